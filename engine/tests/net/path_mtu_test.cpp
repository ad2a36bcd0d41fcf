#include "net/path_mtu.h"

#include <gtest/gtest.h>

#include "net/path_mtu_message.h"

namespace engine {
namespace {

using Bytes = std::vector<uint8_t>;

constexpr size_t kQuoteAt4 = kEthernetLength + kIpv4Length + 8;
constexpr size_t kQuoteAt6 = kEthernetLength + kIpv6Length + 8;

IpAddress sender(bool ipv4) {
  return ipv4 ? IpAddress::v4(0x30000001) : IpAddress{0xfd00ULL << 48, 1};
}
IpAddress receiver(bool ipv4) {
  return ipv4 ? IpAddress::v4(0x10000005) : IpAddress{0xfd00ULL << 48, 5};
}

/// A TCP frame of 1,500 bytes of IP that was sent.
Bytes long_packet(bool ipv4) {
  Bytes bytes(kEthernetLength + 1500);
  uint8_t* at = bytes.data() + write_ethernet(bytes.data(), {}, ether_type_of_ip(ipv4));
  const uint32_t transport = 1500 - static_cast<uint32_t>(ipv4 ? kIpv4Length : kIpv6Length);
  at = compose_ip(at, sender(ipv4), receiver(ipv4), kProtocolTcp, transport, 0, 64, true);
  store_be<uint16_t>(at, 80);
  store_be<uint16_t>(at + 2, 1025);
  store_be<uint32_t>(at + 4, 0x1234'5678);
  at[12] = 0x50;
  return bytes;
}

Frame whole_frame(Bytes& bytes) {
  Frame frame;
  frame.head = bytes.data();
  frame.head_length = static_cast<uint16_t>(bytes.size());
  return frame;
}
std::optional<TooLongPacket> read_message(Bytes bytes) {
  const Frame frame = whole_frame(bytes);
  return read_too_long_message(parse(frame));
}

bool is_too_long(Bytes& bytes) {
  const Frame frame = whole_frame(bytes);
  return is_too_long_message(parse(frame));
}

class PathMtuMessage : public testing::TestWithParam<bool> {};

TEST_P(PathMtuMessage, SaysWhichPacketAndWhatFits) {
  const bool ipv4 = GetParam();
  for (const VlanTags tags : {VlanTags{}, vlan_tags(100), vlan_tags(100, 30)})
    for (const size_t quoted : {28, 100, 500}) {
      const auto found = read_message(
          too_long_message(long_packet(ipv4), {.mtu = 1400, .quoted_bytes = quoted, .tags = tags}));
      ASSERT_TRUE(found);
      EXPECT_EQ(found->source, sender(ipv4));
      EXPECT_EQ(found->destination, receiver(ipv4));
      EXPECT_EQ(found->source_port, 80);
      EXPECT_EQ(found->destination_port, 1025);
      EXPECT_EQ(found->sequence, 0x1234'5678u);
      EXPECT_EQ(found->mtu, 1400u);
    }
}

TEST_P(PathMtuMessage, OneThatIsCutShortAnywhereIsNone) {
  const bool ipv4 = GetParam();
  const Bytes whole = too_long_message(long_packet(ipv4));
  for (size_t length = 0; length < whole.size(); ++length) {
    Bytes cut(whole.begin(), whole.begin() + static_cast<ptrdiff_t>(length));
    EXPECT_FALSE(read_message(cut)) << length << " bytes in the frame";
  }
  for (size_t quoted = 0; quoted < 28; ++quoted) {
    Bytes cut = too_long_message(long_packet(ipv4), {.quoted_bytes = quoted});
    if (!ipv4) cut = too_long_message(long_packet(ipv4), {.quoted_bytes = quoted});
    EXPECT_FALSE(read_message(cut)) << quoted << " bytes quoted";
    EXPECT_TRUE(is_too_long(cut)) << "and it is still such a message";
  }
}

/// Every byte of a message set to every value: what it says may change, and nothing is read beyond.
TEST_P(PathMtuMessage, NoByteOfItIsTrusted) {
  const Bytes whole = too_long_message(long_packet(GetParam()));
  for (size_t at = kEthernetLength; at < whole.size(); ++at)
    for (unsigned value = 0; value <= UINT8_MAX; ++value) {
      Bytes changed = whole;
      changed[at] = static_cast<uint8_t>(value);
      if (at >= (GetParam() ? kQuoteAt4 : kQuoteAt6) - 8) complete_icmp(changed);
      const Bytes exact(changed);  // without room behind it, for the address sanitizer
      (void)read_message(exact);
    }
}

TEST_P(PathMtuMessage, ADamagedOneIsNone) {
  Bytes message = too_long_message(long_packet(GetParam()));
  message.back() ^= 1;
  EXPECT_FALSE(read_message(message));
  EXPECT_TRUE(is_too_long(message));
}

INSTANTIATE_TEST_SUITE_P(Versions, PathMtuMessage, testing::Bool(),
                         [](const auto& version) { return version.param ? "IPv4" : "IPv6"; });

TEST(PathMtuMessage, OptionsOfTheQuotedHeaderArePassedOver) {
  Bytes frame = long_packet(true);
  const Bytes options(8, 1);  // no operation
  frame.insert(frame.begin() + kEthernetLength + kIpv4Length, options.begin(), options.end());
  frame[kEthernetLength] = 0x47;
  EXPECT_FALSE(read_message(too_long_message(frame, {.quoted_bytes = 28})));
  const auto found = read_message(too_long_message(frame, {.quoted_bytes = 36}));
  ASSERT_TRUE(found);
  EXPECT_EQ(found->source_port, 80);
  EXPECT_EQ(found->sequence, 0x1234'5678u);
  frame[kEthernetLength] = 0x4f;
  EXPECT_FALSE(read_message(too_long_message(frame, {.quoted_bytes = 60})))
      << "longer than the quote";
  frame[kEthernetLength] = 0x44;
  EXPECT_FALSE(read_message(too_long_message(frame, {.quoted_bytes = 60})))
      << "shorter than any header";
}

TEST(PathMtuMessage, OtherQuotesAreNone) {
  Bytes frame = long_packet(true);
  frame[kEthernetLength + 9] = kProtocolUdp;
  EXPECT_FALSE(read_message(too_long_message(frame)));
  frame = long_packet(true);
  frame[kEthernetLength + 7] = 1;
  EXPECT_FALSE(read_message(too_long_message(frame))) << "a later fragment has no ports";
  frame = long_packet(false);
  frame[kEthernetLength + 6] = 44;
  EXPECT_FALSE(read_message(too_long_message(frame))) << "a fragment of IPv6";
}

TEST(PathMtuMessage, OtherMessagesAreNone) {
  for (const auto& [type, code] : {std::pair{3, 1}, {3, 3}, {8, 4}, {11, 0}}) {
    Bytes message = too_long_message(long_packet(true));
    message[kQuoteAt4 - 8] = static_cast<uint8_t>(type);
    message[kQuoteAt4 - 7] = static_cast<uint8_t>(code);
    complete_icmp(message);
    EXPECT_FALSE(is_too_long(message)) << type << ", " << code;
  }
  Bytes message = too_long_message(long_packet(false));
  message[kQuoteAt6 - 8] = 1;
  complete_icmp(message);
  EXPECT_FALSE(is_too_long(message));
}

TEST(PathMtuMessage, WithoutAnMtuItIsThePlateauBelowThePacket) {
  const auto of_length = [](uint16_t length) {
    Bytes frame = long_packet(true);
    store_be<uint16_t>(frame.data() + kEthernetLength + 2, length);
    const auto found = read_message(too_long_message(frame, {.mtu = 0}));
    return found ? found->mtu : UINT32_MAX;
  };
  EXPECT_EQ(of_length(1500), 1492u);
  EXPECT_EQ(of_length(1492), 1006u);
  EXPECT_EQ(of_length(296), 68u);
  EXPECT_EQ(of_length(68), 0u) << "nothing that anyone would believe";
  EXPECT_EQ(read_message(too_long_message(long_packet(false), {.mtu = 0}))->mtu, 0u)
      << "IPv6 has no such routers";
}

}  // namespace
}  // namespace engine
