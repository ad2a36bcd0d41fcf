#pragma once
// A received frame, parsed and checked down to the transport header, once: all that follows reads
// this and never the headers' layout.

#ifdef __SSE4_1__
#include <smmintrin.h>
#endif

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

#include "base/byte_order.h"
#include "net/address.h"
#include "net/ethernet.h"
#include "net/frame.h"
#include "net/ip.h"
#include "net/l2_header.h"
#include "net/tcp_header.h"

namespace engine {

/// What a frame is, or why it is dropped.
enum class PacketKind : uint8_t {
  tcp,
  udp,
  other,              ///< neither TCP nor UDP: ARP, ICMP, ICMPv6, anything else
  bad_length,         ///< lengths of the headers disagree with the frame
  fragment,           ///< an IPv4 fragment
  bad_ip_sum,         ///< IPv4 header checksum wrong
  bad_transport_sum,  ///< transport checksum wrong
};

/// Whether TCP's fast path may take a segment, which depends on its flow as well: bits of
/// Flow::flags that the flow has to have (tcp/fast_path.h).
enum class FastPath : uint8_t {
  no = 0x84,       ///< as no flow has: SYN, RST, URG, ECN, other options, no TCP
  bare = 0x04,     ///< ACK, PSH, FIN alone, without options
  stamped = 0x14,  ///< the same with time stamps alone
};

/// What headers a received frame has. Fields behind `kind` are valid as it tells.
struct RxHeaders {
  PacketKind kind = PacketKind::bad_length;
  FastPath fast = FastPath::no;
  uint8_t header_length = 0;  ///< of TCP with its options, or of UDP; others: 0
  uint8_t protocol = 0;       ///< of the IP header; 0: no IP packet that is whole
  uint8_t traffic_class = 0;  ///< TOS byte; its low two bits are ECN (RFC 3168), which are valid
  bool ipv4 = false;
  uint16_t l3_offset = 0;  ///< of what follows the Ethernet header; 0: that is not whole
  tcp::Options options{};
};

/// Pointers go into the frame, which outlives this.
struct RxSegment : RxHeaders {
  const Frame* frame = nullptr;
  const uint8_t* header = nullptr;  ///< of the transport, or of what else follows the IP header
  uint32_t payload_length = 0;      ///< bytes behind `header_length`; Ethernet padding is left out

  const uint8_t* ip() const { return frame->head + l3_offset; }
  uint16_t ether_type() const { return l3_offset == 0 ? uint16_t{0} : load_be<uint16_t>(ip() - 2); }
  IpAddress source() const {
    return ipv4 ? IpAddress::v4(load_be<uint32_t>(ip() + 12)) : IpAddress::v6(ip() + 8);
  }
  IpAddress destination() const {
    return ipv4 ? IpAddress::v4(load_be<uint32_t>(ip() + 16)) : IpAddress::v6(ip() + 24);
  }
  uint16_t source_port() const { return load_be<uint16_t>(header); }
  uint16_t destination_port() const { return load_be<uint16_t>(header + 2); }
  /// Both, as they are in memory.
  uint32_t ports() const {
    uint32_t both;
    std::memcpy(&both, header, sizeof both);
    return both;
  }
  /// The payload, as much of it as the port had: all, but where it cut the frame.
  std::span<const uint8_t> payload() const {
    const uint8_t* const behind = header + header_length;
    if (frame->payload != nullptr)
      return {frame->payload, std::min(payload_length, frame->payload_length)};
    const auto in_head = static_cast<uint32_t>(frame->head + frame->head_length - behind);
    return {behind, std::min(payload_length, in_head)};
  }

  // Of TCP:
  uint32_t sequence() const { return load_be<uint32_t>(header + 4); }
  uint32_t acknowledgment() const { return load_be<uint32_t>(header + 8); }
  uint8_t flags() const { return header[13]; }
  bool is(tcp::SegmentFlag flag) const { return (flags() & flag) != 0; }
  /// As on the wire, not scaled.
  uint16_t window() const { return load_be<uint16_t>(header + 14); }
  /// Sequence space taken: payload, SYN and FIN.
  uint32_t span() const {
    return payload_length + (is(tcp::kSyn) ? 1 : 0) + (is(tcp::kFin) ? 1 : 0);
  }
  bool has_timestamps() const { return options.timestamps_at != 0; }
  uint32_t timestamp() const { return load_be<uint32_t>(header + options.timestamps_at); }
  uint32_t timestamp_echo() const { return load_be<uint32_t>(header + options.timestamps_at + 4); }
  /// One of Options::sack_count.
  SequenceRange sack_block(unsigned number) const {
    const uint8_t* const block = header + options.sack_at + 8 * number;
    return {load_be<uint32_t>(block), load_be<uint32_t>(block + 4)};
  }
};

/// Parses `frame`. Checksums are verified unless the frame says trusted. A partial transport
/// checksum (the field holds the folded pseudo-header sum) is accepted where the frame says either:
/// elsewhere one damaged frame in 65,536 would pass for such a one.
void parse(const Frame& frame, RxSegment& segment);
inline RxSegment parse(const Frame& frame) {
  RxSegment segment;
  parse(frame, segment);
  return segment;
}

/// The same without regard to checksums: of a frame that is to be sent, or whose own core verifies
/// them.
RxSegment parse_unverified(const Frame& frame);

/// Whether the checksums of an IPv4 segment without IP options are right.
bool has_right_checksums(const RxSegment& segment);

/// The headers of usual frames: untagged, IPv4 without options, TCP.
constexpr RxHeaders usual_headers(FastPath fast, uint32_t header, const tcp::Options& options) {
  return {PacketKind::tcp, fast,   static_cast<uint8_t>(header), kProtocolTcp, 0, true,
          kEthernetLength, options};
}
inline constexpr RxHeaders kStampedHeaders =
    usual_headers(FastPath::stamped, tcp::kFixedHeader + tcp::kTimestampsLength,
                  {.mss = 0,
                   .offered = tcp::kOffersTimestamps,
                   .scale = 0,
                   .timestamps_at = tcp::kFixedHeader + 4});
inline constexpr RxHeaders kBareHeaders = usual_headers(FastPath::bare, tcp::kFixedHeader, {});
inline constexpr RxHeaders kSynHeaders = usual_headers(
    FastPath::no, tcp::kFixedHeader + tcp::kSynOptions,
    {.mss = 0, .offered = tcp::kAllOffers, .scale = 0, .timestamps_at = tcp::kFixedHeader + 16});

inline constexpr RxHeaders kBareSynHeaders =
    usual_headers(FastPath::no, tcp::kFixedHeader + tcp::kBareSynOptions,
                  {.mss = 0, .offered = tcp::kOffersSack});

/// 16 bytes of a frame that are to have given values in given bits.
struct alignas(16) FrameForm {
  uint8_t value[16];
  uint8_t bits[16];

  /// In one comparison on x86.
  bool is_of(const uint8_t* bytes) const {
#ifdef __SSE4_1__
    const __m128i differs = _mm_xor_si128(_mm_loadu_si128(reinterpret_cast<const __m128i*>(bytes)),
                                          _mm_load_si128(reinterpret_cast<const __m128i*>(value)));
    return _mm_testz_si128(differs, _mm_load_si128(reinterpret_cast<const __m128i*>(bits))) != 0;
#else
    const auto differs = [&](size_t at) {
      return (load_be<uint64_t>(bytes + at) ^ load_be<uint64_t>(value + at)) &
             load_be<uint64_t>(bits + at);
    };
    return (differs(0) | differs(8)) == 0;
#endif
  }
};
/// From the EtherType on: IPv4 without options and without a mark of ECN, no fragment, TCP.
inline constexpr FrameForm kIpv4TcpForm{{8, 0, 0x45, 0, 0, 0, 0, 0, 0, 0, 0, kProtocolTcp},
                                        {255, 255, 255, 3, 0, 0, 0, 0, 0x3f, 255, 0, 255}};
/// From the length of the TCP header on: ACK, and perhaps PSH and FIN, with time stamps alone.
inline constexpr FrameForm kStampedForm{
    {kStampedHeaders.header_length << 2, tcp::kAck, 0, 0, 0, 0, 0, 0, 1, 1, 8, 10},
    {255, static_cast<uint8_t>(~(tcp::kPsh | tcp::kFin)), 0, 0, 0, 0, 0, 0, 255, 255, 255, 255}};
/// The same of SYN and perhaps ACK, with MSS and SACK permitted.
inline constexpr FrameForm kBareSynForm{
    {kBareSynHeaders.header_length << 2, tcp::kSyn, 0, 0, 0, 0, 0, 0, 2, 4, 0, 0, 1, 1, 4, 2},
    {255, static_cast<uint8_t>(~tcp::kAck), 0, 0, 0, 0, 0, 0, 255, 255, 0, 0, 255, 255, 255, 255}};
/// Options of a SYN as most stacks lay them out: MSS, window scale, SACK permitted, time stamps.
inline constexpr FrameForm kSynOptionsForm{
    {2, 4, 0, 0, 1, 3, 3, 0, 1, 1, 4, 2, 1, 1, 8, 10},
    {255, 255, 0, 0, 255, 255, 255, 0, 255, 255, 255, 255, 255, 255, 255, 255}};

/// The rest of `parse_usual`, for `headers`, which are known where this is compiled.
[[gnu::always_inline]] inline bool parse_behind(const Frame& frame, RxSegment& segment,
                                                const RxHeaders& headers) {
  const uint32_t before_payload = kEthernetLength + kIpv4Length + headers.header_length;
  const uint8_t* const head = frame.head;
  const uint32_t in_head = frame.head_length;
  if (in_head != before_payload && (in_head < before_payload || frame.payload != nullptr))
    return false;
  // A word of 32 bits: GCC reads 16 by way of the stack.
  const uint32_t length =
      (load_be<uint32_t>(head + kEthernetLength + 2) >> 16) - (kIpv4Length + headers.header_length);
  if (!kIpv4TcpForm.is_of(head + kEthernetLength - 2) ||
      length > in_head - before_payload + frame.payload_length)
    return false;
  static_cast<RxHeaders&>(segment) = headers;
  segment.frame = &frame;
  segment.header = head + kEthernetLength + kIpv4Length;
  segment.payload_length = length;
  return frame.checksums == Checksums::trusted || has_right_checksums(segment);
}

/// `parse` of the usual frames: untagged, IPv4 without options and without a mark of ECN, no
/// fragment, TCP that the fast path may take, or a SYN or SYN-ACK with the options that most stacks
/// have, in their order; and checksums that are right. False: it is another one, and `segment` is
/// not valid. Always inlined.
[[gnu::always_inline]] inline bool parse_usual(const Frame& frame, RxSegment& segment) {
  constexpr uint32_t kAckForm = 0xffff'0000 & ~(uint32_t{tcp::kPsh | tcp::kFin} << 16);
  constexpr uint32_t kSynForm = 0xffff'0000 & ~(uint32_t{tcp::kAck} << 16);
  constexpr uint32_t kAckAlone = uint32_t{tcp::kAck} << 16;
  constexpr uint32_t kSynAlone = uint32_t{tcp::kSyn} << 16;
  constexpr uint32_t kTcp = kEthernetLength + kIpv4Length;
  const uint8_t* const tcp = frame.head + kTcp;
  const uint32_t in_head = frame.head_length;
  if (in_head >= kTcp + kStampedHeaders.header_length && kStampedForm.is_of(tcp + 12)) [[likely]]
    return parse_behind(frame, segment, kStampedHeaders);
  if (in_head < kTcp + tcp::kFixedHeader) return false;
  const auto form = load_be<uint32_t>(tcp + 12);
  if ((form & kAckForm) == (kBareHeaders.header_length << 26 | kAckAlone))
    return parse_behind(frame, segment, kBareHeaders);
  if (in_head >= kTcp + kBareSynHeaders.header_length && kBareSynForm.is_of(tcp + 12)) {
    if (!parse_behind(frame, segment, kBareSynHeaders)) return false;
    segment.options.mss = load_be<uint16_t>(tcp + tcp::kFixedHeader + 2);
    return true;
  }
  if ((form & kSynForm) != (kSynHeaders.header_length << 26 | kSynAlone) ||
      in_head < kTcp + kSynHeaders.header_length ||
      !kSynOptionsForm.is_of(tcp + tcp::kFixedHeader) || !parse_behind(frame, segment, kSynHeaders))
    return false;
  segment.options.mss = load_be<uint16_t>(tcp + tcp::kFixedHeader + 2);
  const uint32_t scale = tcp[tcp::kFixedHeader + 7];
  segment.options.scale =
      static_cast<uint8_t>(scale < tcp::kMaxWindowScale ? scale : tcp::kMaxWindowScale);
  return true;
}

/// Writes the checksums of a TCP or UDP frame in one piece as they are to be on a wire. Others, and
/// those whose checksums are wrong, stay as they are.
void complete_checksums(Frame& frame);

/// The layer-2 header of an answer to `frame`: addresses swapped, VLAN tags kept.
L2Header reply_header(const Frame& frame);

}  // namespace engine
