#include "net/rx_segment.h"

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "net/checksum.h"
#include "net/ethernet.h"

namespace engine {
namespace {

using Bytes = std::vector<uint8_t>;

constexpr L2Header kHeader{{2, 0, 0, 0, 0, 2}, {2, 0, 0, 0, 0, 1}, {}};
constexpr uint32_t kSource = 0x10000001;
constexpr uint32_t kDestination = 0x30000001;

struct Recipe {
  uint8_t protocol = 6;
  VlanTags tags{};
  bool ipv6 = false;
  bool hop_by_hop = false;
  bool partial = false;
  size_t tcp_options = 12;
  size_t payload = 21;
  size_t padding = 0;

  size_t l3_offset() const { return tags.inner != 0 ? 22 : tags.any() ? 18 : 14; }
};

void append(Bytes& to, const Bytes& what) {
  to.insert(to.end(), what.begin(), what.end());
}

Bytes transport(const Recipe& recipe, const IpAddress& source, const IpAddress& destination) {
  const size_t header = recipe.protocol == 6 ? 20 + recipe.tcp_options : 8;
  Bytes bytes(header + recipe.payload);
  store_be<uint16_t>(&bytes[0], 1024);
  store_be<uint16_t>(&bytes[2], 80);
  if (recipe.protocol == 6)
    bytes[12] = static_cast<uint8_t>(header / 4 << 4);
  else
    store_be(&bytes[4], static_cast<uint16_t>(bytes.size()));
  for (size_t i = 0; i < recipe.payload; ++i) bytes[header + i] = static_cast<uint8_t>(i * 3 + 1);
  const ChecksumSum pseudo =
      pseudo_header_sum(source, destination, recipe.protocol, static_cast<uint32_t>(bytes.size()));
  store_be(&bytes[recipe.protocol == 6 ? 16 : 6],
           recipe.partial ? checksum_fold(pseudo)
                          : checksum_finish(checksum_add(pseudo, bytes.data(), bytes.size())));
  return bytes;
}

Bytes make(const Recipe& recipe) {
  L2Header l2 = kHeader;
  l2.tags = recipe.tags;
  Bytes frame(22);
  frame.resize(write_ethernet(frame.data(), l2, recipe.ipv6 ? kEtherTypeIpv6 : kEtherTypeIpv4));
  IpAddress source = IpAddress::v4(kSource);
  IpAddress destination = IpAddress::v4(kDestination);
  if (recipe.ipv6) source.high = destination.high = 0x2001'0db8'0000'0000;
  const Bytes segment = transport(recipe, source, destination);
  if (recipe.ipv6) {
    Bytes ip(40);
    ip[0] = 0x6a;  // traffic class 0xab
    ip[1] = 0xb0;
    store_be(&ip[4], static_cast<uint16_t>(segment.size() + (recipe.hop_by_hop ? 8 : 0)));
    ip[6] = recipe.hop_by_hop ? 0 : recipe.protocol;
    store_be(&ip[8], source.high);
    store_be(&ip[16], source.low);
    store_be(&ip[24], destination.high);
    store_be(&ip[32], destination.low);
    if (recipe.hop_by_hop) append(ip, {recipe.protocol, 0, 1, 4, 0, 0, 0, 0});
    append(frame, ip);
  } else {
    Bytes ip(20);
    ip[0] = 0x45;
    ip[1] = 0xab;
    store_be(&ip[2], static_cast<uint16_t>(20 + segment.size()));
    ip[8] = 64;
    ip[9] = recipe.protocol;
    store_be(&ip[12], kSource);
    store_be(&ip[16], kDestination);
    store_be(&ip[10], checksum_finish(checksum_add(0, ip.data(), 20)));
    append(frame, ip);
  }
  append(frame, segment);
  frame.resize(frame.size() + recipe.padding);
  return frame;
}

/// Parses a copy whose end is the end of its memory, so that a sanitizer sees any byte read beyond.
PacketKind parse(const Bytes& bytes, RxSegment& packet, Checksums checksums = Checksums::in_frame) {
  static std::unique_ptr<uint8_t[]> memory;
  static Frame frame;
  memory = std::make_unique<uint8_t[]>(bytes.size());
  std::copy(bytes.begin(), bytes.end(), memory.get());
  frame.head = memory.get();
  frame.head_length = static_cast<uint16_t>(bytes.size());
  frame.checksums = checksums;
  packet = engine::parse(frame);
  return packet.kind;
}

PacketKind parse(const Bytes& bytes, Checksums checksums = Checksums::in_frame) {
  RxSegment packet;
  return parse(bytes, packet, checksums);
}

/// Makes both checksums of an untagged IPv4 frame right.
void make_good(Bytes& bytes) {
  Frame frame;
  frame.head = bytes.data();
  frame.head_length = static_cast<uint16_t>(bytes.size());
  frame.checksums = Checksums::partial;
  complete_checksums(frame);
}

std::vector<Recipe> recipes() {
  std::vector<Recipe> all;
  for (const uint8_t protocol : {uint8_t{6}, uint8_t{17}})
    for (const bool ipv6 : {false, true})
      for (const VlanTags tags : {VlanTags{}, vlan_tags(30), vlan_tags(100, 30)})
        all.push_back({.protocol = protocol, .tags = tags, .ipv6 = ipv6});
  all.push_back({.ipv6 = true, .hop_by_hop = true});
  all.push_back({.tcp_options = 40, .payload = 0, .padding = 7});
  return all;
}

TEST(Packet, ReadsEveryField) {
  for (const Recipe& recipe : recipes()) {
    const Bytes bytes = make(recipe);
    RxSegment packet;
    ASSERT_EQ(parse(bytes, packet), recipe.protocol == 6 ? PacketKind::tcp : PacketKind::udp);
    EXPECT_EQ(packet.source().low32(), kSource);
    EXPECT_EQ(packet.destination().low32(), kDestination);
    EXPECT_EQ(packet.source().is_v4(), !recipe.ipv6);
    EXPECT_EQ(packet.source_port(), 1024);
    EXPECT_EQ(packet.destination_port(), 80);
    EXPECT_EQ(packet.traffic_class, 0xab);
    EXPECT_EQ(packet.l3_offset, recipe.l3_offset());
    EXPECT_EQ(packet.header_length, recipe.protocol == 6 ? 20 + recipe.tcp_options : 8);
    ASSERT_EQ(packet.payload_length, recipe.payload);
    for (size_t i = 0; i < recipe.payload; ++i)
      ASSERT_EQ(packet.payload()[i], static_cast<uint8_t>(i * 3 + 1));
  }
}

/// What a packet says, but for where it stands.
struct Said {
  IpAddress source, destination;
  uint32_t ports = 0, payload_length = 0;
  size_t at_hand = 0;
  uint8_t header_length = 0, code_point = 0;
  FastPath fast = FastPath::no;
  uint16_t mss = 0;
  uint8_t offered = 0, scale = 0, timestamps_at = 0;
  bool operator==(const Said&) const = default;
};
Said said(const RxSegment& packet) {
  return {packet.source(),
          packet.destination(),
          packet.ports(),
          packet.payload_length,
          packet.payload().size(),
          packet.header_length,
          static_cast<uint8_t>(packet.traffic_class & 3),
          packet.fast,
          packet.options.mss,
          packet.options.offered,
          packet.options.scale,
          packet.options.timestamps_at};
}

/// Usual segments: an ACK with options or without, and SYNs.
const std::vector<std::pair<uint8_t, Bytes>> kUsual{
    {tcp::kAck, {}},
    {tcp::kAck, {1, 1, 8, 10, 0, 0, 0, 1, 0, 0, 0, 2}},
    {tcp::kSyn, {2, 4, 5, 180, 1, 1, 4, 2}},
    {tcp::kSyn, {2, 4, 5, 180, 1, 3, 3, 7, 1, 1, 4, 2, 1, 1, 8, 10, 0, 0, 0, 1, 0, 0, 0, 2}},
};

/// Any change to a header means the same with and without a tag, whichever way the frame is parsed;
/// and what the parser of usual frames says is what the general one says.
TEST(Packet, AnUntaggedFrameIsReadAsATaggedOneIs) {
  std::map<std::pair<size_t, uint8_t>, size_t> usual;  // frames, by length of options and flags
  for (const size_t padding : {size_t{0}, size_t{6}})
    for (const auto& [flags, options] : kUsual) {
      Bytes plain = make({.tcp_options = options.size(), .padding = padding});
      plain[15] = 0;  // no mark of ECN
      std::copy(options.begin(), options.end(), plain.begin() + 54);
      plain[47] = flags;
      make_good(plain);
      for (const Checksums checksums : {Checksums::trusted, Checksums::in_frame, Checksums::either})
        for (size_t at = 12; at < 14 + 20 + 20 + options.size(); ++at)
          for (int value = 0; value < 256; ++value) {
            Bytes untagged = plain;
            untagged[at] = static_cast<uint8_t>(value);
            if (at < 14 && value == 0x81) continue;  // a tag of its own
            Bytes tagged = untagged;
            const Bytes tag{0x81, 0x00, 0x00, 0x07};
            tagged.insert(tagged.begin() + 12, tag.begin(), tag.end());
            RxSegment one, other;
            const PacketKind kind = parse(untagged, one, checksums);
            const Said of_untagged = kind == PacketKind::tcp ? said(one) : Said{};
            RxSegment taken;
            if (parse_usual(*one.frame, taken)) {
              ++usual[{options.size(), flags}];
              ASSERT_EQ(kind, PacketKind::tcp) << at << " is " << value;
              ASSERT_EQ(said(taken), of_untagged) << at << " is " << value;
            } else if (kind == PacketKind::tcp) {
              ASSERT_EQ(one.fast, FastPath::no) << at << " is " << value;
            }
            ASSERT_EQ(kind, parse(tagged, other, checksums)) << at << " is " << value;
            if (kind != PacketKind::tcp) continue;
            EXPECT_EQ(of_untagged, said(other)) << at << " is " << value;
          }
    }
  for (const auto& [flags, options] : kUsual)
    EXPECT_GT((usual[{options.size(), flags}]), 10'000u) << options.size();
}

TEST(Packet, LeavesEthernetPaddingOut) {
  RxSegment packet;
  ASSERT_EQ(parse(make({.tcp_options = 0, .payload = 0, .padding = 6}), packet), PacketKind::tcp);
  EXPECT_EQ(packet.payload_length, 0u);
}

TEST(Packet, AFrameCutAnywhereIsOfBadLength) {
  for (const Recipe& recipe : recipes()) {
    const Bytes whole = make(recipe);
    for (size_t length = 0; length < whole.size() - recipe.padding; ++length)
      ASSERT_EQ(parse(Bytes(whole.begin(), whole.begin() + static_cast<long>(length))),
                PacketKind::bad_length)
          << length << " of " << whole.size();
  }
}

TEST(Packet, EveryWrongByteOfHeaderAndPayloadIsSeen) {
  const Bytes whole = make({});
  for (size_t i = 14; i < whole.size(); ++i) {
    Bytes wrong = whole;
    wrong[i] ^= 0x10;
    const PacketKind kind = parse(wrong);
    EXPECT_NE(kind, PacketKind::tcp) << i;
    if (i > 14 && i < 34) {
      EXPECT_EQ(kind, PacketKind::bad_ip_sum) << i;
    }
    if (i >= 34 && i != 46) {  // 46: the TCP header's length
      EXPECT_EQ(kind, PacketKind::bad_transport_sum) << i;
    }
  }
}

TEST(Packet, PartialChecksumsAreAcceptedWhereTheyMayCome) {
  for (Recipe recipe : recipes()) {
    const PacketKind good = recipe.protocol == 6 ? PacketKind::tcp : PacketKind::udp;
    EXPECT_EQ(parse(make(recipe), Checksums::either), good);
    recipe.partial = true;
    EXPECT_EQ(parse(make(recipe), Checksums::either), good);
    EXPECT_EQ(parse(make(recipe), Checksums::in_frame), PacketKind::bad_transport_sum);
  }
}

/// A frame whose complete checksum is what a partial one would be.
Bytes lookalike() {
  const Recipe recipe{.payload = 22};
  Recipe partial = recipe;
  partial.partial = true;
  const Bytes wanted = make(partial);
  Bytes bytes = make(recipe);
  constexpr size_t kSum = 14 + 20 + 16;
  const size_t last = bytes.size() - 2;
  // The last word takes up the difference: the sum of all is to be ffff with the other checksum.
  const ChecksumSum change = ChecksumSum{load_be<uint16_t>(&bytes[kSum])} +
                             static_cast<uint16_t>(~load_be<uint16_t>(&wanted[kSum])) +
                             load_be<uint16_t>(&bytes[last]);
  store_be(&bytes[last], checksum_fold(change));
  store_be(&bytes[kSum], load_be<uint16_t>(&wanted[kSum]));
  return bytes;
}

TEST(Packet, DamageIsSeenInAFrameWhoseChecksumLooksPartial) {
  const Bytes whole = lookalike();
  ASSERT_EQ(parse(whole), PacketKind::tcp);
  for (size_t bit = 14 * 8; bit < whole.size() * 8; ++bit) {
    Bytes wrong = whole;
    wrong[bit / 8] ^= static_cast<uint8_t>(1u << bit % 8);
    EXPECT_NE(parse(wrong), PacketKind::tcp) << bit;
  }
}

TEST(Packet, ChecksumsAreCompletedAsTheyWouldBeOnAWire) {
  for (Recipe recipe : recipes()) {
    const Bytes whole = make(recipe);
    recipe.partial = true;
    for (const Checksums checksums : {Checksums::partial, Checksums::trusted, Checksums::either}) {
      Bytes bytes = make(recipe);
      if (!recipe.ipv6 && checksums != Checksums::either)
        store_be<uint16_t>(&bytes[recipe.l3_offset() + 10], 0);
      Frame frame;
      frame.head = bytes.data();
      frame.head_length = static_cast<uint16_t>(bytes.size());
      frame.checksums = checksums;
      complete_checksums(frame);
      EXPECT_EQ(frame.checksums, Checksums::in_frame);
      EXPECT_EQ(bytes, whole);
    }
  }
}

TEST(Packet, AWrongChecksumIsNotMadeGood) {
  Bytes bytes = make({});
  bytes.back() ^= 1;
  const Bytes before = bytes;
  Frame frame;
  frame.head = bytes.data();
  frame.head_length = static_cast<uint16_t>(bytes.size());
  frame.checksums = Checksums::either;
  complete_checksums(frame);
  EXPECT_EQ(bytes, before);
}

TEST(Packet, TrustedChecksumsAreNotLookedAt) {
  Bytes bytes = make({});
  bytes[24] ^= 1;
  bytes[50] ^= 1;
  EXPECT_EQ(parse(bytes), PacketKind::bad_ip_sum);
  EXPECT_EQ(parse(bytes, Checksums::trusted), PacketKind::tcp);
}

TEST(Packet, UdpWithoutChecksumIsGoodOverIpv4Only) {
  for (const bool ipv6 : {false, true}) {
    Bytes bytes = make({.protocol = 17, .ipv6 = ipv6});
    store_be<uint16_t>(&bytes[(ipv6 ? 54 : 34) + 6], 0);
    EXPECT_EQ(parse(bytes), ipv6 ? PacketKind::bad_transport_sum : PacketKind::udp);
  }
}

TEST(Packet, FragmentsAreToldApart) {
  for (const uint16_t field : {0x2000, 0x0001, 0x2010}) {
    Bytes bytes = make({});
    store_be<uint16_t>(&bytes[20], field);
    store_be<uint16_t>(&bytes[24], 0);
    store_be(&bytes[24], checksum_finish(checksum_add(0, &bytes[14], 20)));
    EXPECT_EQ(parse(bytes), PacketKind::fragment) << field;
  }
}

TEST(Packet, TheRestIsOther) {
  Bytes arp(42);
  store_be(&arp[12], kEtherTypeArp);
  EXPECT_EQ(parse(arp), PacketKind::other);
  EXPECT_EQ(parse(make({.protocol = 1}), Checksums::trusted), PacketKind::other);
  EXPECT_EQ(parse(make({.protocol = 58, .ipv6 = true})), PacketKind::other);
  // A third VLAN tag is none of ours.
  Bytes tagged = make({.tags = vlan_tags(100, 30)});
  store_be(&tagged[20], kEtherTypeVlan);
  EXPECT_EQ(parse(tagged), PacketKind::other);
}

TEST(Packet, PayloadMayLieElsewhere) {
  Bytes bytes = make({.payload = 100});
  const Bytes payload(bytes.end() - 100, bytes.end());
  Frame frame;
  frame.head = bytes.data();
  frame.head_length = static_cast<uint16_t>(bytes.size() - 100);
  frame.payload = payload.data();
  frame.payload_length = 100;
  RxSegment packet;
  ASSERT_EQ((packet = engine::parse(frame)).kind, PacketKind::tcp);
  EXPECT_EQ(packet.payload().data(), payload.data());
  EXPECT_EQ(packet.payload_length, 100u);
  EXPECT_EQ(packet.payload().size(), 100u);
  // It cannot begin in the head and go on elsewhere.
  frame.head_length += 4;
  frame.payload_length -= 4;
  EXPECT_EQ((packet = engine::parse(frame)).kind, PacketKind::bad_length);
}

TEST(Packet, ACutOneIsTakenOnTrustOnly) {
  Bytes bytes = make({.payload = 100});
  Frame frame;
  frame.head = bytes.data();
  frame.head_length = static_cast<uint16_t>(bytes.size() - 80);
  frame.payload_length = 80;
  RxSegment packet;
  EXPECT_EQ((packet = engine::parse(frame)).kind, PacketKind::bad_transport_sum);
  frame.checksums = Checksums::trusted;
  ASSERT_EQ((packet = engine::parse(frame)).kind, PacketKind::tcp);
  EXPECT_EQ(packet.payload_length, 100u);
  EXPECT_EQ(packet.payload().size(), 20u);
  frame.payload_length = 79;  // less than the IP header tells
  EXPECT_EQ((packet = engine::parse(frame)).kind, PacketKind::bad_length);
}

TEST(Packet, RandomBytesNeverLeadOutOfTheFrame) {
  std::mt19937 random(7);
  const std::vector<Recipe> all = recipes();
  for (int round = 0; round < 60'000; ++round) {
    Bytes bytes = make(all[random() % all.size()]);
    for (uint32_t i = random() % 6; i > 0; --i)
      bytes[random() % bytes.size()] = static_cast<uint8_t>(random());
    bytes.resize(random() % 4 ? bytes.size() : random() % (bytes.size() + 1));
    RxSegment packet;
    const PacketKind kind =
        parse(bytes, packet, random() % 2 ? Checksums::trusted : Checksums::either);
    if (kind != PacketKind::tcp && kind != PacketKind::udp) continue;
    // Every byte handed on is one of the frame's: the sanitizer would tell.
    volatile uint32_t sum = 0;
    for (const uint8_t byte : packet.payload()) sum = sum + byte;
    for (uint32_t i = 0; i < packet.header_length; ++i) sum = sum + packet.header[i];
  }
}

TEST(Packet, TheReplyGoesBackTheWayItCame) {
  // With priorities, and with the types of tags as they are.
  for (const VlanTags tags :
       {VlanTags{}, VlanTags{0x8100'601e, 0}, VlanTags{0x88a8'601e, 0},
        VlanTags{0x88a8'6064, 0x8100'201e}, VlanTags{0x8100'0064, 0x8100'001e}}) {
    Bytes bytes = make({.tags = tags});
    Frame frame;
    frame.head = bytes.data();
    frame.head_length = static_cast<uint16_t>(bytes.size());
    EXPECT_EQ(reply_header(frame), (L2Header{kHeader.source, kHeader.destination, tags}));
    frame.head_length = 13;
    EXPECT_EQ(reply_header(frame), L2Header{});
    if (!tags.any()) continue;
    frame.head_length = 17;  // the tag is cut
    EXPECT_EQ(reply_header(frame), L2Header{});
  }
}

}  // namespace
}  // namespace engine
