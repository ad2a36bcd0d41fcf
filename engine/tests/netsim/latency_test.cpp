// Times of flows from their intended start, on the virtual clock.

#include <gtest/gtest.h>

#include "netsim/netsim.h"

namespace engine::netsim {
namespace {

using enum LatencyKind;

/// Both directions take 1 ms, so a round trip takes 2 ms.
Settings slow_wire() {
  Settings settings;
  settings.to_server.delay = settings.to_client.delay = kMillisecond;
  return settings;
}

LatencyBlock times(Network& network, Side side) {
  LatencyBlock block;
  for (const LatencyKind kind : {connect, first_byte, completion})
    block[kind] = network.run(side).latencies().at(0)[kind];
  EXPECT_EQ(network.run(side).latencies().size(), 1u);
  return block;
}

/// Not below, and above by no more than a step of the virtual clock.
void expect_near(uint32_t microseconds, uint32_t wanted) {
  EXPECT_GE(microseconds, wanted - 2);
  EXPECT_LE(microseconds, wanted + 260);
}

TEST(Latency, IsOneRoundTripToConnectTwoToTheFirstByte) {
  Network network(slow_wire(), profile({.response = 1000, .cps = 100, .limit = 50}), forever());
  ASSERT_TRUE(network.drain(20 * kSecond));
  const LatencyBlock client = times(network, Side::client);
  for (LatencyKind kind : {connect, first_byte, completion}) EXPECT_EQ(client[kind].count(), 50u);
  expect_near(client[connect].highest(), 2000);
  expect_near(client[first_byte].highest(), 4000);
  expect_near(client[completion].highest(), 4000);
  const LatencyBlock server = times(network, Side::server);
  EXPECT_EQ(server[connect].count(), 0u);
}

TEST(Latency, CountsFromTheIntendedStartWhenTheCoreWasAway) {
  Network network(slow_wire(), profile({.response = 1000, .cps = 100, .limit = 50}), forever());
  network.run_until(300 * kMillisecond);
  network.skip(100 * kMillisecond);  // ten starts fall due meanwhile
  ASSERT_TRUE(network.drain(20 * kSecond));
  const Histogram waited = times(network, Side::client)[connect];
  EXPECT_EQ(waited.count(), 50u);
  // Of the first missed start about 100 ms late, of the others each 10 ms less.
  EXPECT_GT(waited.highest(), 90'000u);
  EXPECT_GT(waited.sum(), 50 * 2000 + 10 * 45'000u);
}

TEST(Latency, CompletionIsTheLastByteNotTheFirst) {
  Network network(slow_wire(), profile({.response = 100'000, .cps = 100, .limit = 5}), forever());
  ASSERT_TRUE(network.drain(20 * kSecond));
  const LatencyBlock client = times(network, Side::client);
  expect_near(client[first_byte].highest(), 4000);
  EXPECT_GT(client[completion].highest(), client[first_byte].highest() + 1900);
}

}  // namespace
}  // namespace engine::netsim
