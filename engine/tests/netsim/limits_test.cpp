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

/// A replacement is due when a flow of the limit has closed: what the schedule wanted meanwhile was
/// not meant to be opened.
TEST(Limits, ReplacementsAreDueWhenTheirPlaceIsFree) {
  RunOptions options;
  options.duration = 3 * kSecond;
  Network network({}, limited(true), options);
  for (Nanoseconds now = 0; now < options.duration; now += kMillisecond) {
    network.run_until(now);
    const RunStatus status = network.status(Side::client);
    ASSERT_LE(status.intended, status.opened + 1) << now;
    ASSERT_EQ(status.unsent, 0u) << now;
  }
  network.run_until(options.duration);
  const uint64_t opened = network.count(Side::client, Counter::tcps_connattempt);
  network.run_until(options.duration + 10 * kMillisecond);
  EXPECT_NE(network.status(Side::client).phase, RunPhase::opening) << "until its duration is over";
  ASSERT_TRUE(network.drain(10 * kSecond));
  EXPECT_EQ(network.count(Side::client, Counter::tcps_connattempt), opened);
  const RunStatus status = network.status(Side::client);
  EXPECT_EQ(status.late, 0u);
  EXPECT_EQ(status.unsent, 0u);
  EXPECT_EQ(status.intended, opened);
  EXPECT_EQ(network.core(Side::client).drops(Side::client)[Drop::start_too_late], 0u);
  const Histogram& connect = network.run(Side::client).latencies().front()[LatencyKind::connect];
  EXPECT_EQ(connect.count(), opened);
  EXPECT_LE(connect.highest(), 150u);  // us: two delays of the wire
}

/// The rate is the profile's, however many places become free at once.
TEST(Limits, ReplacementsAreNoFasterThanTheRate) {
  RunOptions options;
  options.duration = 3 * kSecond;
  Network network({}, limited(true), options);
  Nanoseconds last = -kSecond;
  Nanoseconds closest = kSecond;
  network.filter = [&](Seen& seen) {
    if (seen.kind == PacketKind::tcp && seen.segment.is(tcp::kSyn) && seen.from == Side::client) {
      closest = std::min(closest, seen.time - last);
      last = seen.time;
    }
    return true;
  };
  ASSERT_TRUE(network.drain(10 * kSecond));
  EXPECT_GE(closest, 5 * kMillisecond - kMicrosecond);
}

}  // namespace
}  // namespace engine::netsim
