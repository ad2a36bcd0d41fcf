// The checksums of a plain segment, beside what parse_packet says of the same frame.

#include "tcp/plain_segment.h"

#include <gtest/gtest.h>

#include <optional>
#include <vector>

#include "net/compose.h"
#include "net/packet.h"

namespace engine::tcp {
namespace {

using Bytes = std::vector<uint8_t>;

constexpr Path kPath{{2, 0, 0, 0, 0, 2}, {2, 0, 0, 0, 0, 1}, 0};

struct Form {
  bool syn;
  bool stamped;

  uint32_t header() const {
    if (stamped) return syn ? kPlainSynHeader<true> : kPlainHeader<true>;
    return syn ? kPlainSynHeader<false> : kPlainHeader<false>;
  }
};
constexpr Form kData{.syn = false, .stamped = true};
constexpr Form kForms[] = {{false, false}, {false, true}, {true, false}, {true, true}};

/// A segment with `payload` bytes, or a SYN.
Bytes make(Form form, uint32_t payload) {
  const uint32_t header = form.header();
  const IpAddress source = IpAddress::v4(0x10000001);
  const IpAddress destination = IpAddress::v4(0x30000001);
  Bytes frame(kPlainTcp + header + payload);
  write_ethernet(frame.data(), kPath, kEtherTypeIpv4);
  compose_ip(frame.data() + kEthernetLength, source, destination, kProtocolTcp, header + payload, 0,
             64, true);
  uint8_t* const tcp = frame.data() + kPlainTcp;
  uint8_t* const options = tcp + kFixedHeader;
  store_be<uint32_t>(tcp, 1024u << 16 | 80);
  store_be<uint32_t>(tcp + 4, 0x12345678);
  store_be<uint32_t>(tcp + 12, header << 26 | uint32_t{form.syn ? kSyn : kAck} << 16 | 0xfff0);
  if (form.syn) {
    store_be<uint32_t>(options, kMssHead << 16 | 1460);
    if (form.stamped) store_be<uint32_t>(options + 4, kScaleHead << 8 | 7);
    store_be<uint32_t>(options + (form.stamped ? 8 : 4), kAlignedSackPermitted);
  }
  if (form.stamped) store_be<uint32_t>(options + (form.syn ? 12 : 0), kAlignedTimestamps);
  for (uint32_t i = 0; i < payload; ++i) tcp[header + i] = static_cast<uint8_t>(i * 7 + 1);
  const ChecksumSum pseudo = pseudo_header_sum(source, destination, kProtocolTcp, header + payload);
  store_be(tcp + 16, checksum_finish(checksum_add(pseudo, tcp, header + payload)));
  return frame;
}

/// `cut`: bytes at its end that the port does not have. `elsewhere`: where else the payload is.
Frame frame_of(Bytes& bytes, Checksums checksums, uint32_t cut = 0, const Bytes* elsewhere = {}) {
  Frame frame;
  frame.head = bytes.data();
  frame.head_length = static_cast<uint16_t>(bytes.size() - cut);
  frame.payload_length = cut;
  if (elsewhere != nullptr) frame.payload = elsewhere->data();
  frame.checksums = checksums;
  return frame;
}

template <bool kStamped>
std::optional<bool> plain(const Frame& frame, bool syn) {
  PlainSegment segment;
  if (!(syn ? read_plain_syn<kStamped>(frame, segment) : read_plain<kStamped>(frame, segment)))
    return {};
  return syn ? has_right_checksums<kPlainSynHeader<kStamped>>(frame, segment)
             : has_right_checksums<kPlainHeader<kStamped>>(frame, segment);
}

/// Whether the checksums are right; nothing where the segment is not plain, of this form.
std::optional<bool> plain(const Frame& frame, Form form) {
  return form.stamped ? plain<true>(frame, form.syn) : plain<false>(frame, form.syn);
}

bool general(const Frame& frame) {
  Packet packet;
  return parse_packet(frame, packet) == PacketKind::tcp;
}

TEST(PlainSegment, ChecksumsAreRightWhereTheyAreForAnyPacket) {
  for (const Checksums checksums : {Checksums::in_frame, Checksums::either})
    for (uint32_t payload = 0; payload < 100; ++payload)
      for (const Form form : kForms) {
        if (form.syn && payload != 0) continue;
        Bytes bytes = make(form, payload);
        EXPECT_EQ(plain(frame_of(bytes, checksums), form), true) << payload;
        EXPECT_EQ(plain(frame_of(bytes, checksums), Form{form.syn, !form.stamped}), std::nullopt);
        EXPECT_TRUE(general(frame_of(bytes, checksums))) << payload;
      }
}

TEST(PlainSegment, EveryWrongByteIsSeen) {
  for (const Form form : kForms) {
    Bytes bytes = make(form, form.syn ? 0 : 21);
    size_t told = 0;
    for (size_t i = kEthernetLength; i < bytes.size(); ++i)
      for (const uint8_t change : {1, 0x80, 0xff}) {
        bytes[i] ^= change;
        const Frame frame = frame_of(bytes, Checksums::in_frame);
        if (const auto right = plain(frame, form)) {
          ++told;
          EXPECT_FALSE(*right) << "byte " << i;
        }
        EXPECT_FALSE(general(frame)) << "byte " << i;
        bytes[i] ^= change;
      }
    EXPECT_GT(told, 3 * kFixedHeader);
  }
}

TEST(PlainSegment, APartialChecksumIsRightWhereItMayCome) {
  Bytes bytes = make(kData, 30);
  uint8_t* const tcp = bytes.data() + kPlainTcp;
  store_be(tcp + 16,
           checksum_fold(pseudo_header_sum(IpAddress::v4(0x10000001), IpAddress::v4(0x30000001),
                                           kProtocolTcp, kPlainHeader<true> + 30)));
  EXPECT_EQ(plain(frame_of(bytes, Checksums::either), kData), true);
  EXPECT_EQ(plain(frame_of(bytes, Checksums::in_frame), kData), false);
  bytes[kEthernetLength + 8] ^= 1;  // time to live: the IP header's own is complete in any case
  EXPECT_EQ(plain(frame_of(bytes, Checksums::either), kData), false);
}

TEST(PlainSegment, PayloadMayLieElsewhereButNotBeCut) {
  Bytes bytes = make(kData, 30);
  EXPECT_EQ(plain(frame_of(bytes, Checksums::in_frame, 30), kData), false);
  EXPECT_EQ(plain(frame_of(bytes, Checksums::in_frame, 1), kData), false);
  Bytes payload(bytes.end() - 30, bytes.end());
  EXPECT_EQ(plain(frame_of(bytes, Checksums::in_frame, 30, &payload), kData), true);
  payload[29] ^= 1;
  EXPECT_EQ(plain(frame_of(bytes, Checksums::in_frame, 30, &payload), kData), false);
}

}  // namespace
}  // namespace engine::tcp
