#include <gtest/gtest.h>

#include "rpc/run_statistics.h"

namespace engine {
namespace {

TEST(CounterDescriptors, HaveTheIdsOfTrex) {
  const nlohmann::json& list = counter_descriptors();
  ASSERT_EQ(list.size(), 140u);
  for (size_t id = 0; id < list.size(); ++id) EXPECT_EQ(list[id]["id"], id);
  EXPECT_EQ(list[0]["name"], "m_active_flows");
  EXPECT_EQ(list[12]["name"], "TCP");
  EXPECT_EQ(list[14]["name"], "tcps_connattempt");
  EXPECT_EQ(list[93]["name"], "udps_accepts");
  EXPECT_EQ(list[121]["name"], "err_cwf");
  EXPECT_EQ(list[139]["name"], "err_defer_no_template");
}

TEST(CounterDescriptors, TellGaugesErrorsAndSeparatorsApart) {
  const nlohmann::json& list = counter_descriptors();
  EXPECT_EQ(list[0]["zero"], true);
  EXPECT_EQ(list[0]["abs"], true);
  EXPECT_EQ(list[10]["zero"], false);  // m_traffic_duration
  EXPECT_EQ(list[12]["real"], false);
  EXPECT_EQ(list[12]["abs"], true);
  EXPECT_EQ(list[14]["abs"], false);
  EXPECT_EQ(list[14]["info"], "info");
  EXPECT_EQ(list[36]["info"], "error");  // tcps_conndrops
}

TEST(CounterValues, LeaveOutZeroUnlessAlwaysShown) {
  CounterBlock c;
  c[Counter::tcps_connects] = 3;
  const nlohmann::json values = counter_values(c, GaugeValues{});
  EXPECT_EQ(values["16"], 3);
  EXPECT_EQ(values["0"], 0);
  EXPECT_FALSE(values.contains("14"));
  EXPECT_FALSE(values.contains("10"));
  EXPECT_FALSE(values.contains("12"));
}

TEST(CounterValues, KeepAllOf64Bits) {
  CounterBlock c;
  c[Counter::tcps_sndbyte] = UINT64_MAX;
  EXPECT_EQ(counter_values(c, GaugeValues{})["23"].get<uint64_t>(), UINT64_MAX);
}

}  // namespace
}  // namespace engine
