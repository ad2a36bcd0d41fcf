// Levels of flows while some of them are refused by a reset.

#include <gtest/gtest.h>

#include "netsim/netsim.h"
#include "stats/gauges.h"

namespace engine::netsim {
namespace {

constexpr size_t kTcpFlags = 14 + 20 + 13;  ///< in a frame of IPv4 without tags

double gauge(Network& network, Side side, Gauge which) {
  return SideGauges{}.values(network.counters(side), 0)[static_cast<size_t>(which)];
}

TEST(RefusedFlows, AreNotTakenOffThoseThatAreOpen) {
  Settings settings;
  settings.offloads.checksum = true;  // of frames that are changed, too
  Network network(
      settings,
      profile({.cps = 200,
               .limit = 100,
               .client_commands = R"({"name":"connect"},{"name":"delay","usec":9000000})",
               .server_commands = R"({"name":"rx","min_bytes":1})"}),
      forever());
  uint64_t answered = 0;
  network.filter = [&](Seen& seen) {
    if (seen.segment.is(tcp::kSyn) && seen.from == Side::server && answered++ % 2 == 0)
      seen.bytes[kTcpFlags] = tcp::kRst | tcp::kAck;
    return true;
  };
  network.run_until(3 * kSecond);
  EXPECT_EQ(network.count(Side::client, Counter::tcps_conndrops), 50u);
  EXPECT_EQ(network.count(Side::client, Counter::tcps_connects), 50u);
  for (const Side side : {Side::client, Side::server}) {
    EXPECT_EQ(gauge(network, side, Gauge::m_est_flows), 50) << index_of(side);
    EXPECT_EQ(gauge(network, side, Gauge::m_active_flows), 50) << index_of(side);
  }
}

}  // namespace
}  // namespace engine::netsim
