#include <gmock/gmock.h>

#include "rpc/control_client.h"

namespace engine {
namespace {

using ::testing::HasSubstr;

class ImpairmentMethodsTest : public ControlTest {
 protected:
  ImpairmentMethodsTest() { acquire(); }

  static Json to(const std::string& direction, const Json& settings) {
    return {{"port_id", 1}, {"direction", direction}, {"settings", settings}};
  }
  std::string refused_settings(const Json& settings) {
    return refusal("stackcost_set_impairment", to("transmit", settings));
  }
};

TEST_F(ImpairmentMethodsTest, SettingsReachTheirPortAndDirectionAndAreToldWithCounts) {
  result("stackcost_set_impairment",
         to("receive", {{"loss", 0.25}, {"delay_us", 1500}, {"rate_mbit", 2.5}, {"seed", 7}}));
  const ImpairmentSettings& set = stand_in().impairments.at({1, Direction::receive});
  EXPECT_EQ(set.loss, 0.25);
  EXPECT_EQ(set.delay, 1500 * kMicrosecond);
  EXPECT_EQ(set.rate, 2.5e6);
  EXPECT_EQ(set.seed, 7u);
  EXPECT_EQ(set.duplication, 0);
  const Json told = result("stackcost_get_impairment")["impairments"];
  ASSERT_EQ(told.size(), 1u);
  EXPECT_EQ(told[0]["port"], 1);
  EXPECT_EQ(told[0]["direction"], "receive");
  EXPECT_EQ(told[0]["settings"], (Json{{"loss", 0.25},
                                       {"duplication", 0.0},
                                       {"reordering", 0.0},
                                       {"congestion", 0.0},
                                       {"corruption", 0.0},
                                       {"delay_us", 1500},
                                       {"jitter_us", 0},
                                       {"held_us", 300},
                                       {"rate_mbit", 2.5},
                                       {"seed", 7}}));
  EXPECT_EQ(told[0]["counts"]["frames"], 7);
  EXPECT_EQ(told[0]["counts"]["lost"], 2);
}

TEST_F(ImpairmentMethodsTest, WhatIsNotUnderstoodIsRefusedAndChangesNothing) {
  EXPECT_THAT(refused_settings({{"loss", 1.5}}), HasSubstr("probability from 0 to 1"));
  EXPECT_THAT(refused_settings({{"loss", "much"}}), HasSubstr("probability from 0 to 1"));
  EXPECT_THAT(refused_settings({{"delay_us", -1}}), HasSubstr("from 0 to 10000000"));
  EXPECT_THAT(refused_settings({{"rate_mbit", 0.001}}), HasSubstr("0.01 to 1,000,000"));
  EXPECT_THAT(refused_settings({{"losss", 0.1}}), HasSubstr("no setting 'losss'"));
  EXPECT_THAT(refusal("stackcost_set_impairment", to("both", Json::object())),
              HasSubstr("transmit or receive"));
  EXPECT_TRUE(stand_in().impairments.empty());
}

}  // namespace
}  // namespace engine
