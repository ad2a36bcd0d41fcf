#include "net/packet.h"

#include <algorithm>

#include "net/checksum.h"
#include "net/ethernet.h"
#include "net/ip.h"
#include "net/usual_packet.h"

namespace engine {
namespace {

constexpr size_t kUdpLength = 8;
constexpr uint8_t kHopByHop = 0;

/// Kinds other than tcp are final; tcp means: go on with `transport`.
PacketKind read_ipv4(const Frame& frame, Packet& packet, Transport& transport) {
  const uint8_t* ip = frame.head + packet.l3_offset;
  const size_t in_head = frame.head_length - packet.l3_offset;
  if (in_head < kIpv4Length) return PacketKind::bad_length;
  const size_t header = size_t{ip[0] & 0xfu} * 4;
  if (ip[0] < 0x45 || ip[0] > 0x4f || header > in_head) return PacketKind::bad_length;
  if (frame.checksums != Checksums::trusted && checksum_fold(checksum_add(0, ip, header)) != 0xffff)
    return PacketKind::bad_ip_sum;
  const size_t total = load_be<uint16_t>(ip + 2);
  if (total < header || total > frame.length() - packet.l3_offset) return PacketKind::bad_length;
  // More fragments, or not the first one (RFC 791 section 3.1).
  if (load_be<uint16_t>(ip + 6) & 0x3fff) return PacketKind::fragment;

  packet.traffic_class = ip[1];
  packet.source = IpAddress::v4(load_be<uint32_t>(ip + 12));
  packet.destination = IpAddress::v4(load_be<uint32_t>(ip + 16));
  transport = {packet.l3_offset + header, total - header, ip[9]};
  return PacketKind::tcp;
}

PacketKind read_ipv6(const Frame& frame, Packet& packet, Transport& transport) {
  const uint8_t* ip = frame.head + packet.l3_offset;
  const size_t in_head = frame.head_length - packet.l3_offset;
  if (in_head < kIpv6Length || ip[0] >> 4 != 6) return PacketKind::bad_length;
  size_t length = load_be<uint16_t>(ip + 4);
  if (kIpv6Length + length > frame.length() - packet.l3_offset) return PacketKind::bad_length;

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
  packet.traffic_class = static_cast<uint8_t>(load_be<uint16_t>(ip) >> 4);
  packet.source = IpAddress::v6(ip + 8);
  packet.destination = IpAddress::v6(ip + 24);
  transport = {packet.l3_offset + header, length, next};
  return PacketKind::tcp;
}

/// The length of the transport header; 0 when it does not fit.
size_t transport_header(const uint8_t* header, const Transport& transport, size_t in_head) {
  const size_t room = transport.length < in_head ? transport.length : in_head;
  if (transport.protocol == kProtocolUdp) return room < kUdpLength ? 0 : kUdpLength;
  if (room < kTcpHeader) return 0;
  const size_t length = size_t{header[12]} / 16 * 4;
  return length < kTcpHeader || length > room ? 0 : length;
}

/// Where the checksum stands in a TCP or UDP header.
size_t sum_offset(uint8_t protocol) {
  return protocol == kProtocolTcp ? 16 : 6;
}

/// `either`: complete, or partial: the field holds the pseudo-header's sum, for a device to
/// complete that the frame never saw. Linux hands such frames over a veth pair.
bool transport_sum_good(const Packet& packet, uint8_t protocol, size_t length, bool either) {
  const uint8_t* field = packet.transport + sum_offset(protocol);
  const ChecksumSum pseudo =
      pseudo_header_sum(packet.source, packet.destination, protocol, static_cast<uint32_t>(length));
  const uint16_t found = load_be<uint16_t>(field);
  // RFC 768: no checksum, over IPv4 only (RFC 8200 section 8.1).
  if (protocol == kProtocolUdp && found == 0) return packet.destination.is_v4();
  if (either && found == checksum_fold(pseudo)) return true;
  if (packet.payload_at_hand < packet.payload_length) return false;  // nothing to compute it from
  const ChecksumSum header = checksum_add(pseudo, packet.transport, packet.transport_header_length);
  return checksum_fold(checksum_add(header, packet.payload, packet.payload_length)) == 0xffff;
}

/// As read_ipv4, of a packet of either version; other: of neither.
PacketKind read_ip(const Frame& frame, Packet& packet, Transport& transport) {
  const EtherType ethernet = read_ethernet(frame);
  if (ethernet.length == 0) return PacketKind::bad_length;
  packet.l3_offset = ethernet.length;
  if (ethernet.type == kEtherTypeIpv4) return read_ipv4(frame, packet, transport);
  if (ethernet.type == kEtherTypeIpv6) return read_ipv6(frame, packet, transport);
  return PacketKind::other;
}

PacketKind parse_any(const Frame& frame, Packet& packet);

}  // namespace

std::optional<Transport> find_transport(const Frame& frame, Packet& packet) {
  Transport transport;
  if (read_ip(frame, packet, transport) != PacketKind::tcp) return std::nullopt;
  return transport;
}

[[gnu::noinline]] PacketKind parse_packet(const Frame& frame, Packet& packet) {
  if (!parse_usual(frame, packet)) return parse_any(frame, packet);
  find_payload(frame, packet);
  const Checksums checksums = frame.checksums;
  if (checksums == Checksums::trusted) return PacketKind::tcp;
  const uint8_t* const ip = frame.head + kEthernetLength;
  if (checksum_fold(checksum_add(0, ip, kIpv4Length)) != 0xffff) return PacketKind::bad_ip_sum;
  const size_t length = size_t{packet.transport_header_length} + packet.payload_length;
  return transport_sum_good(packet, kProtocolTcp, length, checksums == Checksums::either)
             ? PacketKind::tcp
             : PacketKind::bad_transport_sum;
}

namespace {

[[gnu::noinline]] PacketKind parse_any(const Frame& frame, Packet& packet) {
  Transport transport;
  if (const PacketKind kind = read_ip(frame, packet, transport); kind != PacketKind::tcp)
    return kind;
  if (transport.protocol != kProtocolTcp && transport.protocol != kProtocolUdp)
    return PacketKind::other;

  const uint8_t* header = frame.head + transport.offset;
  const size_t in_head = frame.head_length - transport.offset;
  const size_t header_length = transport_header(header, transport, in_head);
  if (header_length == 0) return PacketKind::bad_length;
  if (transport.protocol == kProtocolUdp) {
    const size_t length = load_be<uint16_t>(header + 4);
    if (length < kUdpLength || length > transport.length) return PacketKind::bad_length;
    transport.length = length;
  }
  // Payload that lies elsewhere begins where the head ends.
  if (frame.payload != nullptr && header_length != in_head) return PacketKind::bad_length;

  packet.source_port = load_be<uint16_t>(header);
  packet.destination_port = load_be<uint16_t>(header + 2);
  packet.transport_header_length = static_cast<uint8_t>(header_length);
  packet.transport = header;
  packet.payload_length = static_cast<uint32_t>(transport.length - header_length);
  find_payload(frame, packet);

  if (frame.checksums != Checksums::trusted &&
      !transport_sum_good(packet, transport.protocol, transport.length,
                          frame.checksums == Checksums::either))
    return PacketKind::bad_transport_sum;
  return transport.protocol == kProtocolTcp ? PacketKind::tcp : PacketKind::udp;
}

}  // namespace

void complete_checksums(Frame& frame) {
  // Those yet to be completed are nobody's to doubt.
  if (frame.checksums == Checksums::partial) frame.checksums = Checksums::trusted;
  Packet packet;
  const PacketKind kind = parse_packet(frame, packet);
  frame.checksums = Checksums::in_frame;
  if (kind != PacketKind::tcp && kind != PacketKind::udp) return;
  if (packet.payload_at_hand < packet.payload_length) return;  // the frame was cut
  uint8_t* const ip = frame.head + packet.l3_offset;
  if (packet.source.is_v4()) {
    store_be<uint16_t>(ip + 10, 0);
    store_be<uint16_t>(ip + 10, checksum_finish(checksum_add(0, ip, size_t{ip[0] & 0xfu} * 4)));
  }
  const uint8_t protocol = kind == PacketKind::tcp ? kProtocolTcp : kProtocolUdp;
  uint8_t* const transport = frame.head + (packet.transport - frame.head);
  uint8_t* const field = transport + sum_offset(protocol);
  if (kind == PacketKind::udp && load_be<uint16_t>(field) == 0) return;  // RFC 768: it has none
  store_be<uint16_t>(field, 0);
  const uint32_t length = packet.transport_header_length + packet.payload_length;
  ChecksumSum sum = pseudo_header_sum(packet.source, packet.destination, protocol, length);
  sum = checksum_add(sum, transport, packet.transport_header_length);
  const uint16_t checksum =
      checksum_finish(checksum_add(sum, packet.payload, packet.payload_length));
  store_be<uint16_t>(field, kind == PacketKind::udp && checksum == 0 ? 0xffff : checksum);
}

Path reply_path(const Frame& frame) {
  const EtherType ethernet = read_ethernet(frame);
  Path path;
  if (ethernet.length == 0) return path;
  std::memcpy(path.destination.data(), frame.head + 6, 6);
  std::memcpy(path.source.data(), frame.head, 6);
  path.vlan = ethernet.vlan;
  return path;
}

}  // namespace engine
