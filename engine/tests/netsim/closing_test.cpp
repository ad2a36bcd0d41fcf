// The end of a run with flows open: cut without a word, and little by little.

#include <gtest/gtest.h>

#include "netsim/netsim.h"

namespace engine::netsim {
namespace {

using enum Counter;

/// What a core may look at in one turn of its loop for the runs that are closing.
constexpr uint64_t kMostPerTurn = 256;

/// Connections that stay open for a minute.
std::string lasting(double cps) {
  return profile({.request = 100,
                  .response = 100,
                  .cps = cps,
                  .client_commands = R"({"name":"connect"},{"name":"delay","usec":60000000})"});
}

TEST(Closing, ConnectionsInTimeWaitAreCutTooAndNotCountedAsCut) {
  Network network({}, profile({.request = 100, .response = 100, .cps = 10'000}), forever());
  network.run_until(400 * kMillisecond);
  DataCore& core = network.core(Side::client);
  const uint64_t open = core.open_flows();
  ASSERT_GT(open, 2500u) << "most of them in TIME_WAIT";
  const uint64_t closed = network.count(Side::client, tcps_closed);
  network.close(Side::client);
  EXPECT_EQ(core.open_flows(), 0u);
  EXPECT_EQ(network.status(Side::client).client_flows, 0u);
  EXPECT_LT(network.count(Side::client, tcps_testdrops), 20u) << "those of the last round trips";
  EXPECT_EQ(network.count(Side::client, tcps_closed), closed + open);
}

TEST(Closing, OnlyConnectionsThatAreNotCompleteAreCountedAsCut) {
  Network network({}, profile({.request = 100, .response = 100, .cps = 1000, .limit = 200}),
                  forever());
  network.run_until(400 * kMillisecond);
  const uint64_t open = network.core(Side::client).open_flows();
  ASSERT_EQ(open, 200u) << "all in TIME_WAIT";
  // One in each form: a segment that comes makes a flow of the record.
  network.close(Side::client);
  EXPECT_EQ(network.count(Side::client, tcps_testdrops), 0u);
  EXPECT_EQ(network.count(Side::client, tcps_closed), open);
}

TEST(Closing, ATurnOfTheLoopCutsFewFlowsHoweverManyAreOpen) {
  Network network({}, lasting(10'000), forever());
  network.run_until(kSecond);
  for (const Side side : {Side::client, Side::server}) {
    DataCore& core = network.core(side);
    uint64_t open = core.open_flows();
    ASSERT_GT(open, 5000u);
    const uint64_t sent = network.frames_sent(side);
    core.close(network.run(side));
    EXPECT_EQ(core.open_flows(), open) << "cut at once, on the control thread's request";
    for (uint64_t turns = open;
         core.status(network.run(side)).phase != RunPhase::closed && turns > 0; --turns) {
      const size_t looked_at = core.advance(network.now());
      EXPECT_LE(looked_at, kMostPerTurn);
      EXPECT_LE(open - core.open_flows(), kMostPerTurn);
      open = core.open_flows();
    }
    EXPECT_EQ(core.status(network.run(side)).phase, RunPhase::closed);
    EXPECT_EQ(open, 0u);
    EXPECT_EQ(network.frames_sent(side), sent);
  }
}

}  // namespace
}  // namespace engine::netsim
