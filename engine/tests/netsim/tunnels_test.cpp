// Whole connections in GTP-U, both ends of them engines.

#include <gtest/gtest.h>

#include <map>
#include <set>

#include "net/ethernet.h"
#include "netsim/netsim.h"

namespace engine::netsim::in_tunnels {
namespace {

using enum Counter;

constexpr uint32_t kFirst = 0x10000001;
const Tunnel kTunnel{IpAddress::v4(0x0101010b), IpAddress::v4(0x0c020202), 1000, 5000};

std::shared_ptr<const Tunnels> tunnels(uint32_t last = kFirst + 199) {
  return std::make_shared<const Tunnels>(std::vector<TunnelRange>{{kFirst, last, kTunnel, 2}},
                                         std::unordered_map<uint32_t, Tunnel>{});
}

/// The tunnel of a frame on the wire, and the packet inside.
struct Inside {
  explicit Inside(const Seen& seen) : bytes(seen.bytes) {
    frame.head = bytes.data();
    frame.head_length = static_cast<uint16_t>(bytes.size());
    tunnel = decapsulate(frame);
    packet = parse(frame);
  }
  std::vector<uint8_t> bytes;
  Frame frame;
  std::optional<Tunnel> tunnel;
  RxSegment packet;
};

TEST(Tunnels, ConnectionsAreInTheTunnelOfTheirClientBothWays) {
  for (const VlanTags tags : {VlanTags{}, vlan_tags(100, 30)}) {
    Settings settings;
    settings.tags = tags;
    settings.tunnels = tunnels();
    settings.to_server.loss = settings.to_client.loss = 0.01;
    Network network(settings, profile({.response = 20'000, .cps = 500, .limit = 400}), forever());
    std::map<Side, std::set<uint32_t>> clients;
    network.filter = [&](const Seen& seen) {
      const Inside inside(seen);
      EXPECT_TRUE(inside.tunnel.has_value());
      if (!inside.tunnel) return true;
      EXPECT_EQ(inside.packet.kind, PacketKind::tcp);
      const bool sent = seen.from == Side::client;
      const uint32_t client = (sent ? inside.packet.source() : inside.packet.destination()).low32();
      Tunnel wanted = kTunnel;
      wanted.teid += 2 * (client - kFirst);
      if (!sent) std::swap(wanted.source, wanted.destination);
      EXPECT_EQ(*inside.tunnel, wanted);
      EXPECT_EQ(read_ethernet(inside.frame).tags, tags);
      clients[seen.from].insert(client);
      return true;
    };
    EXPECT_TRUE(network.drain(60 * kSecond));
    EXPECT_EQ(network.count(Side::client, tcps_connects), 400u);
    EXPECT_EQ(network.count(Side::client, tcps_closed), 400u);
    EXPECT_EQ(network.count(Side::client, tcps_rcvbyte), 400u * 20'000);
    EXPECT_EQ(clients[Side::client].size(), 200u);
    EXPECT_EQ(clients[Side::server].size(), 200u);
  }
}

TEST(Tunnels, AClientWithoutOneSendsNothing) {
  Settings settings;
  settings.tunnels = tunnels(kFirst + 99);
  Network network(settings, profile({.response = 100, .cps = 400, .limit = 400}), forever());
  network.run_until(2 * kSecond);
  EXPECT_EQ(network.count(Side::client, tcps_connects), 200u);
  EXPECT_GE(network.tunnels(Side::client)->drops()[Drop::no_tunnel], 200u);
  EXPECT_EQ(network.tunnels(Side::server)->drops()[Drop::not_tunnelled], 0u);
}

TEST(Tunnels, WhatComesInNoneIsGivenUp) {
  Settings settings;
  settings.tunnels = tunnels();
  Network network(settings, profile({.response = 100, .cps = 100}), forever());
  std::vector<std::vector<uint8_t>> taken_out;
  network.filter = [&](const Seen& seen) {
    const Inside inside(seen);
    if (seen.from == Side::client && inside.tunnel && taken_out.empty())
      taken_out.emplace_back(inside.frame.head, inside.frame.head + inside.frame.head_length);
    return true;
  };
  network.run_until(500 * kMillisecond);
  ASSERT_EQ(taken_out.size(), 1u);
  network.filter = nullptr;
  network.inject(Side::client, taken_out[0]);
  network.run_until(510 * kMillisecond);
  EXPECT_EQ(network.tunnels(Side::server)->drops()[Drop::not_tunnelled], 1u);
}

TEST(Tunnels, OneOfAClientsOwnComesBeforeThoseOfItsRange) {
  const Tunnel own{IpAddress::v4(1), IpAddress::v4(2), 3, 4};
  const Tunnels both({{20, 29, kTunnel, 5}, {10, 15, kTunnel, 0}}, {{22, own}, {50, own}});
  EXPECT_EQ(both.find(22), own);
  EXPECT_EQ(both.find(50), own);
  EXPECT_EQ(both.find(23)->teid, 1015u);
  EXPECT_EQ(both.find(15)->teid, 1000u);
  for (const uint32_t none : {9u, 16u, 19u, 30u}) EXPECT_FALSE(both.find(none)) << none;
}

}  // namespace
}  // namespace engine::netsim::in_tunnels
