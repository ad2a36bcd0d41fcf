#pragma once
// The control plane without sockets: bytes in, bytes out, and a tick.

#include <functional>
#include <string>
#include <string_view>

#include "rpc/control_state.h"
#include "rpc/protocol/method_table.h"

namespace engine {

class Control {
 public:
  Control(const Subjects& engine, const EngineConfig& config);

  /// Answers one message. Never throws for what `bytes` hold.
  std::string handle(std::string_view bytes);
  /// Does what is due. Returns how long nothing more will be (seconds). Never throws for what a
  /// part of it meets: that is told on standard error, and the other parts are done.
  double advance();

  ControlState& state() { return state_; }

 private:
  Json call(const std::string& name, const Json& params);
  void check_access(const Method& method, const Json& params) const;
  /// Does a part of a turn, with what it throws caught.
  void attempt(const char* what, const std::function<void()>& part);
  void tell_link_changes();

  ControlState state_;
  MethodTable methods_;
  double next_sample_ = 0;
  std::string last_failure_;  ///< told last; the same one is not told in every turn
};

}  // namespace engine
