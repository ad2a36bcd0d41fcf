#include "net/rx_segment.h"

#include "net/checksum.h"

namespace engine {
namespace {

constexpr uint8_t kHopByHop = 0;

/// What an IP packet carries, and where that begins in its frame.
struct Transport {
  size_t offset = 0;
  size_t length = 0;  ///< header and payload, by the IP header
  uint8_t protocol = 0;
};

/// Reads an IP header. Kinds other than tcp are final; tcp means: go on with `transport`.
PacketKind read_ipv4(const Frame& frame, RxSegment& segment, Transport& transport) {
  const uint8_t* const ip = segment.ip();
  const size_t in_head = frame.head_length - segment.l3_offset;
  segment.ipv4 = true;
  if (in_head < kIpv4Length) return PacketKind::bad_length;
  const size_t header = size_t{ip[0] & 0xfu} * 4;
  if (ip[0] < 0x45 || ip[0] > 0x4f || header > in_head) return PacketKind::bad_length;
  if (frame.checksums != Checksums::trusted && checksum_fold(checksum_add(0, ip, header)) != 0xffff)
    return PacketKind::bad_ip_sum;
  const size_t total = load_be<uint16_t>(ip + 2);
  if (total < header || total > frame.length() - segment.l3_offset) return PacketKind::bad_length;
  segment.traffic_class = ip[1];
  segment.protocol = ip[9];
  // More fragments, or not the first one (RFC 791 section 3.1).
  if (load_be<uint16_t>(ip + 6) & 0x3fff) return PacketKind::fragment;

  transport = {segment.l3_offset + header, total - header, ip[9]};
  return PacketKind::tcp;
}

PacketKind read_ipv6(const Frame& frame, RxSegment& segment, Transport& transport) {
  const uint8_t* const ip = segment.ip();
  const size_t in_head = frame.head_length - segment.l3_offset;
  if (in_head < kIpv6Length || ip[0] >> 4 != 6) return PacketKind::bad_length;
  size_t length = load_be<uint16_t>(ip + 4);
  if (kIpv6Length + length > frame.length() - segment.l3_offset) return PacketKind::bad_length;

  uint8_t next = ip[6];
  size_t header = kIpv6Length;
  if (next == kHopByHop) {  // RFC 8200 section 4.3: only ever the first extension header
    if (length < 8 || in_head < kIpv6Length + 8) return PacketKind::bad_length;
    const size_t options = (size_t{ip[kIpv6Length + 1]} + 1) * 8;
    if (options > length || kIpv6Length + options > in_head) return PacketKind::bad_length;
    next = ip[kIpv6Length];
    header += options;
    length -= options;
  }
  segment.traffic_class = static_cast<uint8_t>(load_be<uint16_t>(ip) >> 4);
  transport = {segment.l3_offset + header, length, next};
  return PacketKind::tcp;
}

/// The length of the transport header; 0 when it does not fit.
size_t transport_header(const uint8_t* header, const Transport& transport, size_t in_head) {
  const size_t room = transport.length < in_head ? transport.length : in_head;
  if (transport.protocol == kProtocolUdp) return room < kUdpLength ? 0 : kUdpLength;
  if (room < tcp::kFixedHeader) return 0;
  const size_t length = size_t{header[12]} / 16 * 4;
  return length < tcp::kFixedHeader || length > room ? 0 : length;
}

/// Where the checksum stands in a TCP or UDP header.
size_t sum_offset(uint8_t protocol) {
  return protocol == kProtocolTcp ? 16 : 6;
}

/// Of a segment that is parsed but for its kind. Checksums::either: complete, or partial: the field
/// holds the pseudo-header's sum, for a device to complete that the frame never saw. Linux hands
/// such frames over a veth pair.
bool transport_sum_good(const RxSegment& segment) {
  const ChecksumSum pseudo =
      pseudo_header_sum(segment.source(), segment.destination(), segment.protocol,
                        segment.header_length + segment.payload_length);
  const uint16_t found = load_be<uint16_t>(segment.header + sum_offset(segment.protocol));
  // RFC 768: no checksum, over IPv4 only (RFC 8200 section 8.1).
  if (segment.protocol == kProtocolUdp && found == 0) return segment.ipv4;
  if (segment.frame->checksums == Checksums::either && found == checksum_fold(pseudo)) return true;
  const std::span<const uint8_t> payload = segment.payload();
  if (payload.size() < segment.payload_length) return false;  // nothing to compute it from
  const ChecksumSum header = checksum_add(pseudo, segment.header, segment.header_length);
  return checksum_fold(checksum_add(header, payload.data(), payload.size())) == 0xffff;
}

/// The form of a TCP segment whose options are parsed.
FastPath form_of(const RxSegment& segment) {
  constexpr uint8_t kRare = 0xff & ~(tcp::kPsh | tcp::kFin);
  constexpr uint32_t kStamped = tcp::kFixedHeader + tcp::kTimestampsLength;
  if ((segment.flags() & kRare) != tcp::kAck || (segment.traffic_class & 3) != 0 ||
      (segment.header[12] & 0xf) != 0)
    return FastPath::no;
  if (segment.header_length == tcp::kFixedHeader) return FastPath::bare;
  const bool alone =
      segment.header_length == kStamped &&
      load_be<uint32_t>(segment.header + tcp::kFixedHeader) == tcp::kAlignedTimestamps;
  return alone ? FastPath::stamped : FastPath::no;
}

/// Parses any headers.
PacketKind read_any(const Frame& frame, RxSegment& segment) {
  const EtherType ethernet = read_ethernet(frame);
  segment.l3_offset = ethernet.length;
  if (ethernet.length == 0) return PacketKind::bad_length;
  Transport transport;
  PacketKind kind = PacketKind::other;
  if (ethernet.type == kEtherTypeIpv4) kind = read_ipv4(frame, segment, transport);
  if (ethernet.type == kEtherTypeIpv6) kind = read_ipv6(frame, segment, transport);
  if (kind != PacketKind::tcp) return kind;

  segment.header = frame.head + transport.offset;
  segment.protocol = transport.protocol;
  segment.payload_length = static_cast<uint32_t>(transport.length);
  if (transport.protocol != kProtocolTcp && transport.protocol != kProtocolUdp)
    return PacketKind::other;

  const size_t in_head = frame.head_length - transport.offset;
  const size_t header = transport_header(segment.header, transport, in_head);
  if (header == 0) return PacketKind::bad_length;
  if (transport.protocol == kProtocolUdp) {
    const size_t length = load_be<uint16_t>(segment.header + 4);
    if (length < kUdpLength || length > transport.length) return PacketKind::bad_length;
    transport.length = length;
  }
  // Payload that lies elsewhere begins where the head ends.
  if (frame.payload != nullptr && header != in_head) return PacketKind::bad_length;
  segment.header_length = static_cast<uint8_t>(header);
  segment.payload_length = static_cast<uint32_t>(transport.length - header);
  if (frame.checksums != Checksums::trusted && !transport_sum_good(segment))
    return PacketKind::bad_transport_sum;
  return transport.protocol == kProtocolTcp ? PacketKind::tcp : PacketKind::udp;
}

}  // namespace

[[gnu::noinline]] void parse(const Frame& frame, RxSegment& segment) {
  segment = RxSegment{};
  segment.frame = &frame;
  segment.kind = read_any(frame, segment);
  if (segment.kind != PacketKind::tcp) return;
  segment.options = tcp::parse_options(segment.header, segment.header_length);
  segment.fast = form_of(segment);
}

RxSegment parse_unverified(const Frame& frame) {
  Frame trusted = frame;
  trusted.checksums = Checksums::trusted;
  RxSegment segment = parse(trusted);
  segment.frame = &frame;
  return segment;
}

bool has_right_checksums(const RxSegment& segment) {
  const Frame& frame = *segment.frame;
  const uint8_t* const header = segment.header;
  const auto addresses = load_native<uint64_t>(header - 8);
  const ChecksumSum ip = add_carry(load_native<uint64_t>(header - kIpv4Length), addresses);
  if (checksum_fold(add_carry(ip, load_native<uint32_t>(header - 12))) != 0xffff) return false;
  const uint32_t header_length = segment.header_length;
  const ChecksumSum pseudo = add_carry(
      addresses,
      checksum_swap(static_cast<uint16_t>(kProtocolTcp + header_length + segment.payload_length)));
  if (frame.checksums == Checksums::either &&
      load_be<uint16_t>(header + 16) == checksum_swap(checksum_fold(pseudo)))
    return true;
  ChecksumSum sum = add_carry(pseudo, load_native<uint64_t>(header));
  for (uint32_t at = 8; at + 8 <= header_length; at += 8)
    sum = add_carry(sum, load_native<uint64_t>(header + at));
  if ((header_length & 4) != 0)
    sum = add_carry(sum, load_native<uint32_t>(header + header_length - 4));
  if (segment.payload_length != 0) {
    const std::span<const uint8_t> payload = segment.payload();
    if (payload.size() < segment.payload_length) return false;  // nothing to compute it from
    sum = add_carry(sum, checksum_bytes(payload.data(), payload.size()));
  }
  return checksum_fold(sum) == 0xffff;
}

void complete_checksums(Frame& frame) {
  // Checksums that are not complete yet cannot be verified.
  const RxSegment segment =
      frame.checksums == Checksums::partial ? parse_unverified(frame) : parse(frame);
  frame.checksums = Checksums::in_frame;
  const PacketKind kind = segment.kind;
  if (kind != PacketKind::tcp && kind != PacketKind::udp) return;
  const std::span<const uint8_t> payload = segment.payload();
  if (payload.size() < segment.payload_length) return;  // the frame was truncated
  uint8_t* const ip = frame.head + segment.l3_offset;
  if (segment.ipv4) {
    store_be<uint16_t>(ip + 10, 0);
    store_be<uint16_t>(ip + 10, checksum_finish(checksum_add(0, ip, size_t{ip[0] & 0xfu} * 4)));
  }
  uint8_t* const transport = frame.head + (segment.header - frame.head);
  uint8_t* const field = transport + sum_offset(segment.protocol);
  if (kind == PacketKind::udp && load_be<uint16_t>(field) == 0) return;  // RFC 768: it has none
  store_be<uint16_t>(field, 0);
  ChecksumSum sum = pseudo_header_sum(segment.source(), segment.destination(), segment.protocol,
                                      segment.header_length + segment.payload_length);
  sum = checksum_add(sum, transport, segment.header_length);
  const uint16_t checksum = checksum_finish(checksum_add(sum, payload.data(), payload.size()));
  store_be<uint16_t>(field, kind == PacketKind::udp && checksum == 0 ? 0xffff : checksum);
}

L2Header reply_header(const Frame& frame) {
  const EtherType ethernet = read_ethernet(frame);
  L2Header l2;
  if (ethernet.length == 0) return l2;
  std::memcpy(l2.destination.data(), frame.head + 6, 6);
  std::memcpy(l2.source.data(), frame.head, 6);
  l2.tags = ethernet.tags;
  return l2;
}

}  // namespace engine
