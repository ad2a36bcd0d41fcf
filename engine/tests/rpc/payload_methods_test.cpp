#include <gmock/gmock.h>

#include "rpc/control_client.h"

namespace engine {
namespace {

using ::testing::HasSubstr;

class PayloadMethodsTest : public ControlTest {
 protected:
  PayloadMethodsTest() { acquire(); }

  Json check(bool enabled) {
    return {{"profile_id", "_"}, {"enabled", enabled}, {"skip_bytes", 120}};
  }
};

TEST_F(PayloadMethodsTest, ACheckIsOfTheRunsThatStartAfterIt) {
  load();
  result("stackcost_set_payload_check", check(true));
  EXPECT_TRUE(result("stackcost_get_payload_check", {{"profile_id", "_"}})["templates"].empty());
  start();
  const PayloadCheckOptions& asked = stand_in().runs.at(1).options.payload_check;
  EXPECT_TRUE(asked.enabled);
  EXPECT_EQ(asked.skip_bytes, 120u);
  EXPECT_THAT(call("stackcost_set_payload_check", check(false)).dump(), HasSubstr("Invalid state"));
  pass(1);
  const Json found = result("stackcost_get_payload_check", {{"profile_id", "_"}})["templates"];
  ASSERT_EQ(found.size(), 1u);
  EXPECT_GT(found[0]["client"]["compared_bytes"], 0);
  EXPECT_EQ(found[0]["server"], (Json{{"compared_bytes", 0},
                                      {"mismatched_bytes", 0},
                                      {"unknown_bytes", 0},
                                      {"mismatched_flows", 0}}));
  result("stop", {{"profile_id", "_"}});
  pass(3);
  EXPECT_FALSE(stand_in().runs.contains(1));
  EXPECT_GE(result("stackcost_get_payload_check",
                   {{"profile_id", "_"}})["templates"][0]["client"]["compared_bytes"],
            found[0]["client"]["compared_bytes"]);
}

TEST_F(PayloadMethodsTest, WithoutACheckThereIsNothingToTell) {
  load();
  start();
  EXPECT_TRUE(result("stackcost_get_payload_check", {{"profile_id", "_"}})["templates"].empty());
}

}  // namespace
}  // namespace engine
