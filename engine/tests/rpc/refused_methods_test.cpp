#include <gmock/gmock.h>

#include "rpc/control_client.h"

namespace engine {
namespace {

using ::testing::HasSubstr;
using RefusedMethodsTest = ControlTest;

TEST_F(RefusedMethodsTest, WhatIsRefusedIsNotToldAsSupported) {
  const Json supported = result("get_supported_cmds");
  for (const char* name :
       {"add_stream", "start_traffic", "conf_ns_batch", "start_capture_port", "enable_tpg"}) {
    EXPECT_THAT(refusal(name, {{"port_id", 0}}), HasSubstr("not")) << name;
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
