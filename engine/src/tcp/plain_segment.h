#pragma once
// The segment of a connection that nothing disturbs, told from others before its flow is known.

#include <algorithm>

#include "flow/flow_identity.h"
#include "net/checksum.h"
#include "net/ethernet.h"
#include "net/ip.h"
#include "tcp/segment.h"

namespace engine::tcp {

/// Where it stands in its frame. Of addresses and ports the sender's are in the upper half.
struct PlainSegment {
  const uint8_t* header;  ///< TCP's, which follows the IP header's addresses
  uint32_t length;        ///< of its payload

  uint64_t addresses() const { return load_be<uint64_t>(header - 8); }
  uint32_t ports() const { return load_be<uint32_t>(header); }
  /// Whether it is for the flow with these addresses, which is one of IPv4.
  bool is_for(const FlowIdentity& flow) const {
    return flow.remote.low32() == load_be<uint32_t>(header - 8) &&
           flow.local.low32() == load_be<uint32_t>(header - 4) &&
           flow.remote_port == load_be<uint16_t>(header) &&
           flow.local_port == load_be<uint16_t>(header + 2);
  }
  IpAddress source() const { return IpAddress::v4(load_be<uint32_t>(header - 8)); }
  IpAddress destination() const { return IpAddress::v4(load_be<uint32_t>(header - 4)); }
  uint16_t source_port() const { return load_be<uint16_t>(header); }
  uint16_t destination_port() const { return load_be<uint16_t>(header + 2); }
};

/// Lengths of TCP headers: of a plain segment, and of a plain SYN. Both come with time stamps and
/// without. A SYN without them has no window scale either: one tunable governs both.
template <bool kStamped>
inline constexpr uint32_t kPlainHeader = kFixedHeader + (kStamped ? 12 : 0);
template <bool kStamped>
inline constexpr uint32_t kPlainSynHeader = kFixedHeader + (kStamped ? kSynOptions : 8);

/// Where the TCP header of a plain segment begins.
inline constexpr uint32_t kPlainTcp = kEthernetLength + kIpv4Length;

/// Reads the headers down to TCP's first 12 bytes. False: they are not plain, or there are more
/// than `most` bytes behind a TCP header of `header` bytes. In one piece with its callers.
[[gnu::always_inline]] inline bool read_plain_ip(const Frame& frame, uint32_t header, uint32_t most,
                                                 PlainSegment& segment) {
  constexpr uint32_t kIp = kEthernetLength;
  const uint8_t* const head = frame.head;
  // EtherType, version, header length and ECN; then from the IP header's length to its protocol.
  const auto ip = load_be<uint64_t>(head + kIp + 2);
  segment.length = static_cast<uint32_t>(ip >> 48) - (kIpv4Length + header);
  if ((load_be<uint32_t>(head + kIp - 2) & 0xffff'ff03) != 0x0800'4500 ||
      (static_cast<uint32_t>(ip) & 0x3fff'00ff) != kProtocolTcp || segment.length > most)
    return false;
  segment.header = head + kPlainTcp;
  return true;
}

/// Reads a plain segment: untagged, IPv4 without options and without a mark of ECN, not a fragment,
/// TCP with time stamps alone or without options, and with ACK, PSH and FIN alone. Its checksums
/// are not looked at. False: it is another one, or damaged. In one piece with its caller.
template <bool kStamped>
[[gnu::always_inline]] inline bool read_plain(const Frame& frame, PlainSegment& segment) {
  constexpr uint32_t kHeader = kPlainHeader<kStamped>;
  constexpr uint32_t kBeforePayload = kPlainTcp + kHeader;
  constexpr uint32_t kTold = 0xffff'0000 & ~(uint32_t{kPsh | kFin} << 16);
  const uint8_t* const tcp = frame.head + kPlainTcp;
  const uint32_t in_head = frame.head_length;
  if (in_head != kBeforePayload && (in_head < kBeforePayload || frame.payload != nullptr))
    return false;
  return (load_be<uint32_t>(tcp + 12) & kTold) == (kHeader << 26 | uint32_t{kAck} << 16) &&
         (!kStamped || load_be<uint32_t>(tcp + kFixedHeader) == kAlignedTimestamps) &&
         read_plain_ip(frame, kHeader, in_head - kBeforePayload + frame.payload_length, segment);
}

/// Reads a plain SYN or SYN-ACK: the same with the options that this stack writes, in its order,
/// and without payload.
template <bool kStamped>
[[gnu::always_inline]] inline bool read_plain_syn(const Frame& frame, PlainSegment& segment) {
  constexpr uint32_t kHeader = kPlainSynHeader<kStamped>;
  constexpr uint32_t kTold = 0xffff'0000 & ~(uint32_t{kAck} << 16);
  const uint8_t* const tcp = frame.head + kPlainTcp;
  const uint8_t* const options = tcp + kFixedHeader;
  if (frame.head_length < kPlainTcp + kHeader ||
      (load_be<uint32_t>(tcp + 12) & kTold) != (kHeader << 26 | uint32_t{kSyn} << 16) ||
      load_be<uint16_t>(options) != kMssHead)
    return false;
  if constexpr (kStamped) {
    if (load_be<uint32_t>(options + 4) >> 8 != kScaleHead ||
        load_be<uint32_t>(options + 12) != kAlignedTimestamps)
      return false;
  }
  return load_be<uint32_t>(options + (kStamped ? 8 : 4)) == kAlignedSackPermitted &&
         read_plain_ip(frame, kHeader, 0, segment);
}

/// Whether the checksums of IP and TCP are right, as parse_packet tells, of a segment that was read
/// with a TCP header of `header` bytes from a frame whose checksums are not trusted. False where
/// the frame lacks the bytes to tell. In one piece with its caller.
template <uint32_t header>
[[gnu::always_inline]] inline bool has_right_checksums(const Frame& frame,
                                                       const PlainSegment& segment) {
  constexpr uint32_t kAddresses = 8;
  const uint8_t* const tcp = segment.header;
  const ChecksumSum addresses = checksum_words<2>(tcp - kAddresses);
  if (checksum_fold(checksum_words<3>(tcp - kIpv4Length) + addresses) != 0xffff) return false;
  const ChecksumSum pseudo =
      addresses + checksum_swap(static_cast<uint16_t>(kProtocolTcp + header + segment.length));
  if (frame.checksums == Checksums::either &&
      load_be<uint16_t>(tcp + 16) == checksum_swap(checksum_fold(pseudo)))
    return true;
  ChecksumSum sum = pseudo + checksum_words<header / 4>(tcp);
  if (segment.length != 0) {
    const bool elsewhere = frame.payload != nullptr;
    const uint8_t* const payload = elsewhere ? frame.payload : tcp + header;
    const uint32_t in_head = frame.head_length - (kPlainTcp + header);
    if (segment.length > (elsewhere ? frame.payload_length : in_head)) return false;
    sum += checksum_bytes(payload, segment.length);
  }
  return checksum_fold(sum) == 0xffff;
}

inline bool is_syn_ack(const PlainSegment& syn) {
  return (syn.header[13] & kAck) != 0;
}
/// What a plain SYN or SYN-ACK says; `flags`: which of them it is.
template <bool kStamped>
[[gnu::always_inline]] inline Segment segment_of_syn(const PlainSegment& syn, uint8_t flags) {
  const uint8_t* const header = syn.header;
  const uint8_t* const options = header + kFixedHeader;
  Segment segment;
  segment.sequence = load_be<uint32_t>(header + 4);
  segment.acknowledgment = load_be<uint32_t>(header + 8);
  segment.window = load_be<uint16_t>(header + 14);
  segment.flags = flags;
  segment.mss = load_be<uint16_t>(options + 2);
  segment.sack_permitted = true;
  if constexpr (kStamped) {
    segment.has_scale = segment.has_timestamps = true;
    segment.scale = std::min(options[7], kMaxWindowScale);
    segment.timestamp = load_be<uint32_t>(options + 16);
    segment.timestamp_echo = load_be<uint32_t>(options + 20);
  }
  return segment;
}

}  // namespace engine::tcp
