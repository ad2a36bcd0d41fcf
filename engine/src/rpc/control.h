#pragma once
// The control plane without sockets: bytes in, bytes out, and a tick.

#include <functional>
#include <list>
#include <string>
#include <string_view>

#include "rpc/json_rpc.h"
#include "rpc/machine_statistics.h"
#include "rpc/method_table.h"
#include "rpc/methods.h"

namespace engine {

class Control {
 public:
  Control(const Subjects& engine, const EngineConfig& config);

  /// Takes the answer to one message.
  using Reply = std::function<void(const std::string&)>;

  /// Answers one message by `reply`, at once, or in a later `advance` when a request of it has to
  /// wait. Never throws for what `bytes` hold.
  void handle(std::string_view bytes, Reply reply);
  /// Does what is due. Returns how long nothing more will be (seconds). Never throws for what a
  /// part of it meets: that is told on standard error, and the other parts are done.
  double advance();

  /// Ends what waits, and answers it with `why`.
  void abandon(const std::string& why);

  ControlState& state() { return state_; }

 private:
  struct Waiting {
    Exchange exchange;
    Reply reply;
  };

  Outcome call(const std::string& name, const Json& params);
  void answer_waiting();
  void check_access(const Method& method, const Json& params) const;
  /// Does a part of a turn, with what it throws caught.
  void attempt(const char* what, const std::function<void()>& part);
  void tell_link_changes();

  ControlState state_;
  MethodTable methods_;
  std::list<Waiting> waiting_;  ///< messages that are not answered yet
  double next_sample_ = 0;
  DeviceWarnings warnings_;
  std::string last_failure_;  ///< told last; the same one is not told in every turn
};

}  // namespace engine
