// Which way frames go: topologies, and senders that get no answer.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "net/ethernet.h"
#include "netsim/netsim.h"
#include "netsim/several_templates.h"

namespace engine::netsim {
namespace {

using enum Counter;

/// One exchange per flow, clients 16.0.0.1 to 16.0.0.9.
std::string exchange() {
  return several({program(R"({"name": "tx", "buf_index": 0}, {"name": "rx", "min_bytes": 4})"),
                  program(R"({"name": "rx", "min_bytes": 4}, {"name": "tx", "buf_index": 1})")},
                 {flow_template(0, 1, 100, 0)}, {});
}

constexpr uint32_t kFirstClient = 0x10000001;
constexpr MacAddress kGateway{0x11, 0, 0, 0, 3, 0};
constexpr MacAddress kOtherGateway{0x11, 0, 0, 0, 4, 0};
constexpr MacAddress kInterface{0x11, 0, 0, 0, 1, 0};

L2Header l2_header_of(const Seen& seen) {
  L2Header l2;
  std::copy_n(seen.bytes.data(), 6, l2.destination.data());
  std::copy_n(seen.bytes.data() + 6, 6, l2.source.data());
  std::vector<uint8_t> bytes = seen.bytes;
  l2.tags = read_ethernet({.head = bytes.data(), .head_length = kEthernetLength + 8}).tags;
  return l2;
}

TEST(Paths, EachClientUsesTheInterfaceAndGatewayOfItsGroup) {
  RunOptions options;
  options.topology = std::make_shared<const Topology>(std::vector<ClientGroup>{
      {0, kFirstClient, kFirstClient + 2, kGateway, kInterface, vlan_tags(7)},
      {0, kFirstClient + 3, kFirstClient + 8, kOtherGateway, std::nullopt}});
  Network network({}, exchange(), options);
  const MacAddress port = network.core(Side::client).responder(Side::client).address().mac;
  std::set<uint32_t> clients;
  network.filter = [&](const Seen& seen) {
    const bool sent = seen.from == Side::client;
    const uint32_t client = (sent ? seen.packet.source() : seen.packet.destination()).low32();
    clients.insert(client);
    L2Header wanted = client < kFirstClient + 3 ? L2Header{kGateway, kInterface, vlan_tags(7)}
                                                : L2Header{kOtherGateway, port};
    if (!sent) std::swap(wanted.source, wanted.destination);  // an answer goes back the same way
    EXPECT_EQ(l2_header_of(seen), wanted) << client;
    return true;
  };
  network.run_until(1 * kSecond);
  EXPECT_EQ(clients.size(), 9u);
  EXPECT_GT(network.count(Side::client, tcps_connects), 50u);
}

TEST(Paths, TagsKeepTheirTypesBothWays) {
  for (const VlanTags tags : {VlanTags{0x88a8'0064, 0x8100'001e},
                              VlanTags{0x8100'0064, 0x8100'001e}, VlanTags{0x88a8'0064, 0}}) {
    Settings settings;
    settings.tags = tags;
    Network network(settings, exchange(), {});
    network.filter = [&](const Seen& seen) {
      EXPECT_EQ(l2_header_of(seen).tags, tags);
      return true;
    };
    network.run_until(1 * kSecond);
    EXPECT_GT(network.count(Side::client, tcps_connects), 50u);
    EXPECT_EQ(network.count(Side::server, tcps_accepts),
              network.count(Side::client, tcps_connects));
  }
}

TEST(Paths, AClientInNoGroupIsNamedBeforeAnythingStarts) {
  RunOptions options;
  options.topology = std::make_shared<const Topology>(
      std::vector<ClientGroup>{{0, kFirstClient, kFirstClient + 7, kGateway, std::nullopt}});
  try {
    Network network({}, exchange(), options);
    FAIL();
  } catch (const ProfileError& error) {
    EXPECT_STREQ(error.what(), "Client configuration error - no group containing IP: 16.0.0.9");
  }
}

/// Resets that clients send when their flows are forgotten while servers still speak.
uint64_t resets(const Ignored& ignored, Counter counted) {
  Settings settings;
  settings.to_client.delay = 20 * kMillisecond;
  Network network(settings, exchange(), {});
  network.core(Side::client).set_ignored(ignored);
  network.run_until(500 * kMillisecond);
  uint64_t resets = 0;
  network.filter = [&](const Seen& seen) {
    if (seen.from == Side::client && seen.segment.is(tcp::kRst)) ++resets;
    return true;
  };
  network.close(Side::client);
  network.run_until(3 * kSecond);
  const CounterBlock table = network.table_counters(Side::client);
  EXPECT_GT(table[err_cwf], 0u);
  EXPECT_EQ(table[counted], resets == 0 ? table[err_cwf] : 0u);
  return resets;
}

TEST(Paths, IgnoredSendersGetNoReset) {
  Ignored addresses;
  for (uint32_t server = 0x30000001; server <= 0x30000009; ++server)
    addresses.addresses.push_back(server);
  EXPECT_GT(resets({}, ignored_ips), 0u);
  EXPECT_EQ(resets(addresses, ignored_ips), 0u);
}

}  // namespace
}  // namespace engine::netsim
