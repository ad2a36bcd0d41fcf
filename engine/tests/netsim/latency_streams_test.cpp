// Latency streams beside flows, over a wire that damages frames.

#include <gtest/gtest.h>

#include "netsim/netsim.h"

namespace engine::netsim {
namespace {

/// Both streams from now on, a packet each millisecond.
void start_streams(Network& network) {
  LatencyOptions options{.interval = kMillisecond,
                         .source = 0x10000001,
                         .destination = 0x30000001,
                         .epoch = 7,
                         .sends = true};
  network.core(Side::client).latency_stream(Side::client).start(options, network.now());
  std::swap(options.source, options.destination);
  options.port = 1;
  network.core(Side::server).latency_stream(Side::server).start(options, network.now());
}

const LatencyReport& report(Network& network, Side side) {
  return network.core(side).latency_stream(side).report();
}

TEST(LatencyStreams, MeasureNothingThatIsDamaged) {
  Settings settings;
  settings.to_server.corruption = 0.5;
  Network network(settings, profile({.response = 1000, .cps = 100, .limit = 10}), forever());
  start_streams(network);
  network.run_until(2 * kSecond);
  const LatencyReport& damaged = report(network, Side::server);
  EXPECT_GT(damaged.bad_ip_sum, 200u);
  EXPECT_GT(damaged.bad_icmp_sum, 200u);
  EXPECT_GT(damaged.received, 200u);
  EXPECT_EQ(damaged.histogram.maximum(), kDelay);
  EXPECT_EQ(damaged.wrong_length + damaged.impossible_time, 0u);
  const LatencyReport& whole = report(network, Side::client);
  EXPECT_GE(whole.received + 1, damaged.sent);  // one may be on its way
  EXPECT_EQ(whole.bad_ip_sum + whole.bad_icmp_sum + whole.out_of_sequence, 0u);
}

TEST(LatencyStreams, DamagedFramesAreNotDropsOfTheFlowsAsWell) {
  Network network({}, profile({.response = 1000, .cps = 100, .limit = 10}), forever());
  start_streams(network);
  uint64_t damaged = 0;
  network.filter = [&damaged](Seen& seen) {
    if (seen.from == Side::client && seen.kind == PacketKind::other) {
      ++damaged;
      seen.bytes[26] ^= 1;  // the source address
    }
    return true;
  };
  network.run_until(kSecond);
  EXPECT_GT(damaged, 800u);
  EXPECT_GE(report(network, Side::server).bad_ip_sum + 1, damaged);
  EXPECT_EQ(report(network, Side::server).received, 0u);
  EXPECT_EQ(network.table_counters(Side::server)[Counter::err_l3_cs], 0u);
}

}  // namespace
}  // namespace engine::netsim
