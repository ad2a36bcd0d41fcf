#include <gmock/gmock.h>

#include "rpc/control_client.h"

namespace engine {
namespace {

using ::testing::HasSubstr;
using RefusedMethodsTest = ControlTest;

TEST_F(RefusedMethodsTest, TunnelsAreRefusedInTrexsWords) {
  const Json supported = result("is_tunnel_supported", {{"tunnel_type", 1}});
  EXPECT_EQ(supported["is_tunnel_supported"], false);
  EXPECT_THAT(supported["error_msg"].get<std::string>(), HasSubstr("Tunnel is not supported: "));
  EXPECT_THAT(refusal("activate_tunnel_mode",
                      {{"tunnel_type", 1}, {"activate", true}, {"loopback", false}}),
              HasSubstr("tunnel type is not supported"));
  EXPECT_EQ(refusal("activate_tunnel_mode", {{"activate", false}}),
            "The tunnel mode is already off");
  EXPECT_EQ(refusal("update_tunnel_client", {{"tunnel_type", 1}, {"attr", Json::array()}}),
            "The tunnel mode needs to be activated");
  EXPECT_EQ(refusal("tunnel_topo_get"),
            "Tunnel mode has to be activated in order to use Tunnel Topology");
}

TEST_F(RefusedMethodsTest, WhatIsRefusedIsNotToldAsSupported) {
  const Json supported = result("get_supported_cmds");
  for (const char* name : {"add_stream", "start_traffic", "conf_ns_batch", "start_capture_port",
                           "enable_tpg", "tunnel_topo_fragment"}) {
    EXPECT_THAT(refusal(name, {{"port_id", 0}}),
                testing::AnyOf(HasSubstr("not"), HasSubstr("has to be")))
        << name;
    EXPECT_EQ(call(name)["error"]["code"], -32000) << name;
    EXPECT_EQ(std::count(supported.begin(), supported.end(), name), 0) << name;
  }
  EXPECT_THAT(refusal("add_stream"), HasSubstr("ASTF mode alone"));
  EXPECT_EQ(call("no_such_method")["error"]["code"], -32601);
}

TEST_F(RefusedMethodsTest, WithoutTheHandshakeTheyAreRefusedForThat) {
  EXPECT_THAT(raw("add_stream", Json::object())["error"]["specific_err"].get<std::string>(),
              HasSubstr("API verification failed"));
}

}  // namespace
}  // namespace engine
