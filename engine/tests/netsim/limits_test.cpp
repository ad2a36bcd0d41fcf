// `limit` of a template: flows ever, or with `cont` flows at a time.

#include <gtest/gtest.h>

#include "netsim/netsim.h"
#include "netsim/several_templates.h"

namespace engine::netsim {
namespace {

using nlohmann::json;

/// A flow of 100 ms, at most 3 of them.
std::string limited(bool concurrent) {
  json flow = flow_template(0, 1, 200, 0);
  flow["client_template"]["limit"] = 3;
  flow["client_template"]["cont"] = concurrent;
  return several({program(R"({"name":"tx","buf_index":0},{"name":"delay","usec":100000})"),
                  program(R"({"name":"rx","min_bytes":4})")},
                 {flow}, {});
}

/// The most flows open at once within `duration`.
uint64_t most_open(Network& network, Nanoseconds duration) {
  uint64_t most = 0;
  for (Nanoseconds now = 0; now < duration; now += 10 * kMillisecond) {
    network.run_until(now);
    most = std::max(most, network.status(Side::client).client_flows);
  }
  return most;
}

TEST(Limits, OfFlowsEverEndTheRun) {
  Network network({}, limited(false), forever());
  EXPECT_EQ(most_open(network, kSecond), 3u);
  ASSERT_TRUE(network.drain(5 * kSecond));
  EXPECT_EQ(network.count(Side::client, Counter::tcps_connattempt), 3u);
}

TEST(Limits, OfFlowsAtATimeReplaceThoseThatClosed) {
  RunOptions options;
  options.duration = 3 * kSecond;
  Network network({}, limited(true), options);
  EXPECT_EQ(most_open(network, 3 * kSecond), 3u);
  ASSERT_TRUE(network.drain(10 * kSecond));
  const uint64_t opened = network.count(Side::client, Counter::tcps_connattempt);
  EXPECT_GT(opened, 12u);  // 3 flows of 100 ms and a TIME_WAIT each, again and again
  EXPECT_LE(opened, 90u);
}

}  // namespace
}  // namespace engine::netsim
