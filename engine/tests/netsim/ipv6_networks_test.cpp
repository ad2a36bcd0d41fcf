// Clients over IPv6 from as many networks as there are connections: nothing of a peer's choice
// fills a server but its connections.

#include <gtest/gtest.h>

#include <algorithm>
#include <array>

#include "json/parse_profile.h"
#include "net/ethernet.h"
#include "netsim/netsim.h"

namespace engine::netsim {
namespace {

constexpr size_t kSource = kEthernetLength + 8;
constexpr size_t kDestination = kSource + 16;
constexpr size_t kPrefix = 12;
constexpr const char* kPairs = "pair of IPv6 prefixes";

uint64_t in_use(Network& network, Side side) {
  for (const PoolStatus& pool : network.core(side).memory())
    if (pool.name == std::string_view(kPairs)) return pool.in_use;
  return UINT64_MAX;
}

TEST(Ipv6Networks, OfItsOwnForEveryConnection) {
  constexpr uint64_t kConnections = 2000;
  Settings settings;
  settings.offloads.checksum = true;  // of frames that are changed, too
  constexpr const char* kCommands =
      R"({"name":"tx","buf_index":0},{"name":"rx","min_bytes":32000},{"name":"delay","usec":100000})";
  Network network(
      settings,
      parse_profile(profile({.cps = 5000, .limit = kConnections, .client_commands = kCommands}),
                    true),
      forever());
  // On the wire a client's port stands in its prefix.
  std::array<uint8_t, kPrefix> client{};
  network.filter = [&](Seen& seen) {
    if (seen.kind != PacketKind::tcp) return true;
    uint8_t* const bytes = seen.bytes.data();
    if (seen.from == Side::server) {
      std::copy(client.begin(), client.end(), bytes + kDestination);
      return true;
    }
    std::copy_n(bytes + kSource, kPrefix, client.begin());
    store_be<uint16_t>(bytes + kSource + 2, seen.packet.source_port());
    return true;
  };
  uint64_t most[kSides]{};
  for (Nanoseconds now = 0; now < kSecond; now += 10 * kMillisecond) {
    network.run_until(now);
    for (const Side side : {Side::client, Side::server})
      most[index_of(side)] = std::max(most[index_of(side)], in_use(network, side));
  }
  ASSERT_TRUE(network.drain(5 * kSecond));
  for (const Side side : {Side::client, Side::server}) {
    EXPECT_EQ(network.count(side, Counter::tcps_closed), kConnections);
    EXPECT_EQ(in_use(network, side), 0u);
  }
  EXPECT_EQ(network.count(Side::client, Counter::tcps_rcvbyte), kConnections * 32'000);
  EXPECT_EQ(most[index_of(Side::client)], 1u);
  EXPECT_GT(most[index_of(Side::server)], 400u);
}

}  // namespace
}  // namespace engine::netsim
