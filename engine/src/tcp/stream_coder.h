#pragma once
// What may stand between a flow's stream and its program.

#include <cstdint>

#include "flow/context.h"

namespace engine::tcp {

/// Codes the stream of all flows of a class (FlowClass::coder): what the program queues is not what
/// is sent. TLS is one. What it sends are buffers of FlowClass::buffers, by `append`.
class StreamCoder {
 public:
  /// The program's `queue`: a buffer of the profile.
  virtual void queue(Context& context, Flow& flow, uint32_t buffer) = 0;
  /// The program's `close`; `finish` follows what was queued before.
  virtual void close(Context& context, Flow& flow) = 0;

 protected:
  ~StreamCoder() = default;
};

}  // namespace engine::tcp
