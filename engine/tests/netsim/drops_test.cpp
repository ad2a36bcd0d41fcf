// Every frame and every start that is given up has a reason.

#include <gtest/gtest.h>

#include <numeric>

#include "netsim/netsim.h"

namespace engine::netsim {
namespace {

uint64_t all(const Drops& drops) {
  return std::accumulate(drops.values.begin(), drops.values.end(), uint64_t{0});
}

/// An Ethernet frame of `type` with 46 bytes of zeros.
std::vector<uint8_t> frame_of(uint16_t type) {
  std::vector<uint8_t> bytes(60);
  store_be(bytes.data() + 12, type);
  return bytes;
}

TEST(Drops, ACleanRunHasNone) {
  Network network({}, profile({.cps = 500, .limit = 100}), forever());
  ASSERT_TRUE(network.drain(20 * kSecond));
  for (Side side : {Side::client, Side::server}) EXPECT_EQ(all(network.core(side).drops(side)), 0u);
}

TEST(Drops, AnUnknownProtocolIsNamed) {
  Network network({}, profile({.cps = 10, .limit = 1}), forever());
  network.inject(Side::client, frame_of(0x88cc));  // LLDP
  ASSERT_TRUE(network.drain(20 * kSecond));
  const Drops drops = network.core(Side::server).drops(Side::server);
  EXPECT_EQ(drops[Drop::unknown_protocol], 1u);
  EXPECT_EQ(all(drops), 1u);
}

TEST(Drops, WhatTheFlowTableCountsIsAmongThem) {
  Settings small;
  small.max_flows = 8;
  Network full(small, profile({.cps = 1000, .limit = 50}), forever());
  full.run_until(kSecond);
  const RunStatus status = full.status(Side::client);
  ASSERT_GT(status.unsent, 0u);
  EXPECT_EQ(full.core(Side::client).drops(Side::client)[Drop::client_flow_table_full],
            status.unsent);
}

TEST(Drops, StartsThatWereStillWaitingAtTheEndAreNamed) {
  RunOptions options;
  options.duration = kSecond;
  Network network({}, profile({.cps = 1000}), options);
  network.run_until(600 * kMillisecond);
  network.skip(2 * kSecond);
  ASSERT_TRUE(network.drain(20 * kSecond));
  const RunStatus status = network.status(Side::client);
  EXPECT_EQ(status.intended, status.opened + status.unsent);
  ASSERT_GT(status.unsent, 100u);
  EXPECT_EQ(network.core(Side::client).drops(Side::client)[Drop::start_too_late], status.unsent);
}

}  // namespace
}  // namespace engine::netsim
