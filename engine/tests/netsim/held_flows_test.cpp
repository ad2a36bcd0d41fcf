// Load driven by concurrency: flows that close are replaced.

#include <gtest/gtest.h>

#include "netsim/netsim.h"

namespace engine::netsim {
namespace {

/// Hardly any start by the schedule, so that what is open is what is held.
HttpLike quiet() {
  return {.request = 100, .response = 1000, .cps = 0.001};
}

uint64_t open(Network& network) {
  return network.status(Side::client).client_flows;
}

TEST(HeldFlows, WhatClosesIsReplaced) {
  Network network({}, profile(quiet()), forever());
  network.run(Side::client).hold(200, 0, network.now());
  for (int i = 1; i <= 20; ++i) {
    network.run_until(i * 50 * kMillisecond);
    EXPECT_GE(open(network), 200u) << i;
    EXPECT_LE(open(network), 201u) << i;
  }
  const RunStatus status = network.status(Side::client);
  EXPECT_EQ(status.held_wanted, 200u);
  EXPECT_GT(status.held_opened, 300u);  // TIME_WAIT is half a second
  EXPECT_EQ(status.held_refused, 0u);
  EXPECT_LE(status.opened, 1u);
}

TEST(HeldFlows, ARampReachesThemEvenlyAndZeroLetsThemEnd) {
  Network network({}, profile(quiet()), forever());
  network.run(Side::client).hold(1000, 2 * kSecond, network.now());
  network.run_until(kSecond);
  EXPECT_NEAR(static_cast<double>(open(network)), 500, 5);
  network.run_until(3 * kSecond);
  EXPECT_NEAR(static_cast<double>(open(network)), 1000, 5);
  network.run(Side::client).hold(0, 0, network.now());
  network.run_until(5 * kSecond);
  EXPECT_LE(open(network), 1u);
}

TEST(HeldFlows, ATableThatIsFullRefusesAndIsNotAskedAllTheTime) {
  Settings small;
  small.max_flows = 64;
  Network network(small, profile(quiet()), forever());
  network.run(Side::client).hold(100, 0, network.now());
  network.run_until(100 * kMillisecond);
  const RunStatus status = network.status(Side::client);
  EXPECT_EQ(status.client_flows, 64u);
  EXPECT_GT(status.held_refused, 0u);
  EXPECT_LE(status.held_refused, 101u);
  EXPECT_EQ(network.core(Side::client).drops(Side::client)[Drop::client_flow_table_full],
            status.held_refused);
}

}  // namespace
}  // namespace engine::netsim
