#pragma once
// TLS handshakes, one step in a pass of the core's loop.

#include <cstddef>

#include "astf/classes.h"
#include "astf/open_flows.h"

namespace engine {

class HandshakeSteps {
 public:
  HandshakeSteps(Context& context, Classes& classes, OpenFlows& flows, const AttachedRuns& runs)
      : context_(context), classes_(classes), flows_(flows), runs_(runs) {}

  /// Takes one step of one handshake, the library's work alone. False: none is due.
  bool begin();
  /// Acts upon what came of it, at the time of its end.
  void end();

 private:
  Context& context_;
  Classes& classes_;
  OpenFlows& flows_;
  const AttachedRuns& runs_;
  Flow* flow_ = nullptr;  ///< whose handshake takes a step
  size_t next_run_ = 0;   ///< that may take the next one
};

}  // namespace engine
