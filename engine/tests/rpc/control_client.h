#pragma once
// A client of class Control, for tests of its methods.

#include <gtest/gtest.h>

#include "rpc/control.h"
#include "rpc/engine_stand_in.h"
#include "rpc/profile_text.h"

namespace engine {

/// A client that speaks to the control plane without sockets.
class ControlTest : public ::testing::Test {
 protected:
  explicit ControlTest(EngineConfig config = {})
      : config_(std::move(config)), control_(engine_.subjects(), config_) {}

  EngineStandIn& stand_in() { return engine_; }

  /// The answer to a message that does not have to wait.
  std::string answer_to(const std::string& bytes) {
    std::string answer = "null";
    control_.handle(bytes, [&answer](const std::string& reply) { answer = reply; });
    return answer;
  }

  Json raw(const std::string& method, const Json& params) {
    const Json request = {{"jsonrpc", "2.0"}, {"id", 1}, {"method", method}, {"params", params}};
    return Json::parse(answer_to(request.dump()));
  }

  /// With the handshake's handle, and the handlers once acquired.
  Json call(const std::string& method, Json params = Json::object()) {
    if (api_.empty())
      api_ = raw("api_sync_v2", {{"name", "ASTF"}, {"major", 2}, {"minor", 3}})["result"]["api_h"];
    params["api_h"] = api_;
    if (!params.contains("handler") && !handlers_.is_null()) {
      const Json port = params.value("port_id", Json());
      params["handler"] = port.is_null() ? handlers_["handler"]
                                         : handlers_["ports"][std::to_string(port.get<int>())];
    }
    return raw(method, params);
  }

  Json result(const std::string& method, const Json& params = Json::object()) {
    const Json reply = call(method, params);
    EXPECT_TRUE(reply.contains("result")) << method << " " << reply;
    return reply.value("result", Json());
  }

  std::string refusal(const std::string& method, const Json& params = Json::object()) {
    const Json reply = call(method, params);
    EXPECT_TRUE(reply.contains("error")) << method << " " << reply;
    return reply.contains("error") ? reply["error"].value("specific_err", "") : "";
  }

  void acquire(int64_t session = 1, bool force = false) {
    handlers_ = result("acquire", {{"user", "u"}, {"session_id", session}, {"force", force}});
  }

  void load() {
    result("profile_fragment", {{"profile_id", "_"},
                                {"fragment", kProfileText},
                                {"frag_first", true},
                                {"frag_last", true}});
  }

  void start(const Json& more = Json::object()) {
    Json params = {{"profile_id", "_"}, {"mult", 1}, {"nc", false}, {"duration", -1}};
    params.update(more);
    result("start", params);
    pass(0.1);
  }

  void pass(double seconds) {
    for (double end = stand_in().now + seconds; stand_in().now < end; stand_in().now += 0.01)
      control_.advance();
  }

  EngineConfig config_;
  EngineStandIn engine_;
  Control control_;
  std::string api_;
  Json handlers_;
};

}  // namespace engine
