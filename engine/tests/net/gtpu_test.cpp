#include "net/gtpu.h"

#include <gtest/gtest.h>

#include <array>
#include <vector>

#include "net/checksum.h"
#include "net/compose.h"
#include "net/ethernet.h"
#include "net/rx_segment.h"

namespace engine::in_tunnels {
namespace {

using Bytes = std::vector<uint8_t>;

constexpr IpAddress kClient = IpAddress::v4(0x10000001);
constexpr IpAddress kServer = IpAddress::v4(0x30000001);
const Tunnel kOverIpv4{IpAddress::v4(0x0101010b), IpAddress::v4(0x0c020202), 0xabcd1234, 5000};
const Tunnel kOverIpv6{{0x2001'0db8'0000'0000, 1}, {0x2001'0db8'0000'0000, 2}, 7, 5000};

/// A frame in a buffer of its own, with `payload` bytes behind its head or elsewhere.
struct Buffer {
  std::array<uint8_t, 2000> bytes{};
  Bytes elsewhere;
  Frame frame;

  Buffer(const VlanTags& tags, bool ipv6, size_t payload, bool in_head) : elsewhere(payload, 'x') {
    IpAddress source = kClient, destination = kServer;
    if (ipv6) source.high = destination.high = 0x2001'0db8'0000'0001;
    uint8_t* const ip = bytes.data() + write_ethernet(bytes.data(), {{2, 1}, {2, 2}, tags},
                                                      ether_type_of_ip(!ipv6));
    uint8_t* const udp = compose_ip(ip, source, destination, kProtocolUdp,
                                    static_cast<uint32_t>(8 + payload), 0xb9, 64, true);
    store_be<uint16_t>(udp, 1024);
    store_be<uint16_t>(udp + 2, 53);
    store_be<uint16_t>(udp + 4, static_cast<uint16_t>(8 + payload));
    std::copy(elsewhere.begin(), elsewhere.end(), udp + 8);
    frame.head = bytes.data();
    frame.head_length = static_cast<uint16_t>(udp + 8 + payload - bytes.data());
    complete_checksums(frame);
    if (in_head) return;
    frame.head_length = static_cast<uint16_t>(frame.head_length - payload);
    frame.payload = elsewhere.data();
    frame.payload_length = static_cast<uint32_t>(payload);
  }
  Bytes whole() const {
    Bytes all(frame.head, frame.head + frame.head_length);
    all.insert(all.end(), frame.payload, frame.payload + frame.payload_length);
    return all;
  }
};

TEST(Gtpu, APacketComesOutOfATunnelAsItWentIn) {
  for (const Tunnel& tunnel : {kOverIpv4, kOverIpv6})
    for (const VlanTags tags : {VlanTags{}, vlan_tags(30), vlan_tags(100, 30)})
      for (const bool ipv6 : {false, true})
        for (const bool in_head : {false, true}) {
          Buffer sent(tags, ipv6, in_head ? 20 : 1400, in_head);
          const Bytes before = sent.whole();
          ASSERT_TRUE(encapsulate(sent.frame, tunnel));
          EXPECT_EQ(sent.whole().size(), before.size() + (tunnel == kOverIpv4 ? 36 : 56));
          // Both checksums outside are right, and the DSCP is outside, too.
          Bytes outside = sent.whole();
          const Frame seen{.head = outside.data(),
                           .head_length = static_cast<uint16_t>(outside.size())};
          const RxSegment outer = parse(seen);
          ASSERT_EQ(outer.kind, PacketKind::udp);
          EXPECT_EQ(outer.traffic_class, 0xb8);
          EXPECT_EQ(outer.source(), tunnel.source);
          EXPECT_EQ(outer.destination_port(), 2152);
          EXPECT_EQ(load_be<uint32_t>(outer.header + 12), tunnel.teid);
          EXPECT_EQ(read_ethernet(seen).tags, tags);

          EXPECT_EQ(decapsulate(sent.frame), tunnel);
          EXPECT_EQ(sent.whole(), before);
        }
}

TEST(Gtpu, WithoutAPortItHasThatOfThePacketInside) {
  Buffer sent({}, false, 20, true);
  Tunnel tunnel = kOverIpv4;
  tunnel.port = 0;
  ASSERT_TRUE(encapsulate(sent.frame, tunnel));
  EXPECT_EQ(decapsulate(sent.frame)->port, 1024);
}

TEST(Gtpu, AHeadWithoutRoomIsLeftAsItWas) {
  Buffer sent({}, false, kHeadRoom - 14 - 28 - 35, true);
  const Bytes before = sent.whole();
  EXPECT_FALSE(encapsulate(sent.frame, kOverIpv4));
  EXPECT_EQ(sent.whole(), before);
}

/// A frame in a tunnel over IPv4 whose GTP-U header has `optional` behind it, flags as given.
Bytes with_optional(uint8_t flags, const Bytes& optional) {
  Buffer sent({}, false, 20, true);
  encapsulate(sent.frame, kOverIpv4);
  Bytes bytes = sent.whole();
  constexpr size_t kGtp = 14 + 20 + 8;
  bytes[kGtp] = flags;
  bytes.insert(bytes.begin() + kGtp + 8, optional.begin(), optional.end());
  for (const size_t at : {size_t{16}, size_t{38}, kGtp + 2})
    store_be(&bytes[at], static_cast<uint16_t>(load_be<uint16_t>(&bytes[at]) + optional.size()));
  store_be<uint16_t>(&bytes[24], 0);
  store_be(&bytes[24], checksum_finish(checksum_add(0, &bytes[14], 20)));
  store_be<uint16_t>(&bytes[40], 0);  // RFC 768: no checksum
  return bytes;
}

bool comes_out(Bytes bytes) {
  Frame frame{.head = bytes.data(), .head_length = static_cast<uint16_t>(bytes.size())};
  if (!decapsulate(frame)) return false;
  return Bytes(frame.head, frame.head + frame.head_length) == Buffer({}, false, 20, true).whole();
}

TEST(Gtpu, OptionalFieldsAndExtensionsAreLeftOut) {
  EXPECT_TRUE(comes_out(with_optional(0x30, {})));
  EXPECT_TRUE(comes_out(with_optional(0x32, {0, 9, 0, 0})));
  EXPECT_TRUE(comes_out(with_optional(0x34, {0, 0, 0, 0x85, 1, 0x10, 9, 0})));  // PDU session
  EXPECT_TRUE(
      comes_out(with_optional(0x34, {0, 0, 0, 0x85, 1, 0, 9, 0x40, 2, 0, 0, 0, 0, 0, 0, 0})));
  EXPECT_FALSE(comes_out(with_optional(0x34, {0, 0, 0, 0x85, 0, 0, 9, 0})));  // of no length
  EXPECT_FALSE(comes_out(with_optional(0x34, {0, 0, 0, 0x85, 99, 0, 9, 0})));
  EXPECT_FALSE(comes_out(with_optional(0x50, {})));  // version 2
  EXPECT_FALSE(comes_out(with_optional(0x20, {})));  // GTP'
}

TEST(Gtpu, ADamagedFrameIsInNoTunnel) {
  Buffer sent({}, false, 20, true);
  encapsulate(sent.frame, kOverIpv4);
  const Bytes good = sent.whole();
  for (size_t length = 0; length < good.size(); ++length) {
    Bytes cut(good.begin(), good.begin() + static_cast<long>(length));
    EXPECT_FALSE(comes_out(cut)) << length;
  }
  for (size_t i = 14; i < good.size(); ++i) {
    Bytes changed = good;
    changed[i] ^= 4;
    Frame frame{.head = changed.data(), .head_length = static_cast<uint16_t>(changed.size())};
    EXPECT_FALSE(decapsulate(frame)) << i;
  }
}

}  // namespace
}  // namespace engine::in_tunnels
