#include "net/gtpu.h"

#include <algorithm>
#include <cstring>

#include "net/checksum.h"
#include "net/compose.h"
#include "net/ethernet.h"
#include "net/rx_segment.h"

namespace engine {
namespace {

constexpr size_t kGtpLength = 8;        ///< without the optional fields
constexpr size_t kOptionalLength = 4;   ///< sequence number, N-PDU number, next extension's type
constexpr uint8_t kGtpVersion1 = 0x30;  ///< version 1, GTP and not GTP'; no optional fields
constexpr uint8_t kVersionBits = 0xf0;
constexpr uint8_t kOptionalBits = 0x07;
constexpr uint8_t kExtensionBit = 0x04;
constexpr uint8_t kPacketInside = 255;  ///< G-PDU
constexpr uint8_t kTunnelTtl = 64;
constexpr uint8_t kDscpBits = 0xfc;

/// Of a UDP datagram that is whole but for its checksum. `outer` was parsed without its payload.
bool sums_good(const Frame& frame, const RxSegment& outer) {
  if (frame.checksums == Checksums::trusted) return true;
  if (outer.ipv4 &&
      checksum_fold(checksum_add(0, outer.ip(), size_t{outer.ip()[0] & 0xfu} * 4)) != 0xffff)
    return false;
  const auto found = load_be<uint16_t>(outer.header + 6);
  if (found == 0) return true;  // RFC 768; of tunnels over IPv6 RFC 6935
  const size_t length = kUdpLength + outer.payload_length;
  const ChecksumSum pseudo =
      pseudo_header_sum(outer.source(), outer.destination(), kProtocolUdp, length);
  if (frame.checksums == Checksums::either && found == checksum_fold(pseudo)) return true;
  const auto behind = static_cast<size_t>(frame.head + frame.head_length - outer.header);
  const size_t in_head = std::min(length, behind);
  const size_t elsewhere = length - in_head;
  if (elsewhere > (frame.payload == nullptr ? 0 : frame.payload_length)) return false;
  const ChecksumSum sum = checksum_add(pseudo, outer.header, in_head);
  return checksum_fold(checksum_add(sum, frame.payload, elsewhere)) == 0xffff;
}

/// Length of the GTP-U header at `gtp`, of whose message `length` bytes are at hand; 0: it is none
/// with a packet inside.
size_t gtp_header_length(const uint8_t* gtp, size_t length) {
  if (length < kGtpLength || (gtp[0] & kVersionBits) != kGtpVersion1 || gtp[1] != kPacketInside)
    return 0;
  if ((gtp[0] & kOptionalBits) == 0) return kGtpLength;
  size_t header = kGtpLength + kOptionalLength;
  if (length < header) return 0;
  uint8_t next = (gtp[0] & kExtensionBit) != 0 ? gtp[header - 1] : uint8_t{0};
  while (next != 0) {  // each begins with its length in words and ends with the next one's type
    if (header >= length || gtp[header] == 0 || header + gtp[header] * size_t{4} > length) return 0;
    header += gtp[header] * size_t{4};
    next = gtp[header - 1];
  }
  return header;
}

}  // namespace

bool encapsulate(Frame& frame, const Tunnel& tunnel) {
  const RxSegment inner = parse_unverified(frame);
  const bool ipv4 = tunnel.source.is_v4();
  const size_t added = (ipv4 ? kIpv4Length : kIpv6Length) + kUdpLength + kGtpLength;
  if (frame.head_length + added > kHeadRoom) return false;
  // Its header moves, which `inner` refers to.
  const bool has_ports = inner.kind == PacketKind::tcp || inner.kind == PacketKind::udp;
  const uint16_t own = has_ports ? inner.source_port() : kGtpuPort;
  uint8_t* const ip = frame.head + inner.l3_offset;
  const size_t length = frame.length() - inner.l3_offset;
  std::memmove(ip + added, ip, frame.head_length - inner.l3_offset);
  frame.head_length = static_cast<uint16_t>(frame.head_length + added);
  const size_t datagram = kUdpLength + kGtpLength + length;
  store_be(ip - 2, ether_type_of_ip(ipv4));
  uint8_t* const udp = compose_ip(ip, tunnel.source, tunnel.destination, kProtocolUdp,
                                  static_cast<uint32_t>(datagram), inner.traffic_class & kDscpBits,
                                  kTunnelTtl, true);
  store_be(udp, tunnel.port != 0 ? tunnel.port : own);
  store_be(udp + 2, kGtpuPort);
  store_be(udp + 4, static_cast<uint16_t>(datagram));
  store_be<uint16_t>(udp + 6, 0);
  uint8_t* const gtp = udp + kUdpLength;
  gtp[0] = kGtpVersion1;
  gtp[1] = kPacketInside;
  store_be(gtp + 2, static_cast<uint16_t>(length));
  store_be(gtp + 4, tunnel.teid);
  const ChecksumSum pseudo =
      pseudo_header_sum(tunnel.source, tunnel.destination, kProtocolUdp, datagram);
  const ChecksumSum sum =
      checksum_add(pseudo, udp, static_cast<size_t>(frame.head + frame.head_length - udp));
  const uint16_t checksum = checksum_finish(
      checksum_add(sum, frame.payload, frame.payload == nullptr ? 0 : frame.payload_length));
  store_be<uint16_t>(udp + 6, checksum == 0 ? 0xffff : checksum);
  return true;
}

std::optional<Tunnel> decapsulate(Frame& frame) {
  // Headers of the packet inside may be in the head, and its payload elsewhere: so it is parsed as
  // one that was cut.
  Frame headers = frame;
  headers.payload = nullptr;
  const RxSegment outer = parse_unverified(headers);
  if (outer.kind != PacketKind::udp || outer.destination_port() != kGtpuPort) return std::nullopt;
  const uint8_t* const gtp = outer.header + kUdpLength;
  const auto behind = static_cast<size_t>(frame.head + frame.head_length - gtp);
  const size_t in_head = std::min<size_t>(outer.payload_length, behind);
  const size_t header = gtp_header_length(gtp, in_head);
  // The length counts from the optional fields on.
  if (header == 0 || kGtpLength + load_be<uint16_t>(gtp + 2) > outer.payload_length ||
      header >= std::min(in_head, kGtpLength + load_be<uint16_t>(gtp + 2)) ||
      !sums_good(frame, outer))
    return std::nullopt;
  const uint8_t version = gtp[header] >> 4;
  if (version != 4 && version != 6) return std::nullopt;
  const Tunnel tunnel{outer.source(), outer.destination(), load_be<uint32_t>(gtp + 4),
                      outer.source_port()};
  const size_t before = static_cast<size_t>(gtp - frame.head) + header - outer.l3_offset;
  std::memmove(frame.head + before, frame.head, outer.l3_offset);
  frame.head += before;
  frame.head_length = static_cast<uint16_t>(frame.head_length - before);
  store_be(frame.head + outer.l3_offset - 2, ether_type_of_ip(version == 4));
  // What vouched for a checksum did so for the outer one.
  if (frame.checksums != Checksums::in_frame) frame.checksums = Checksums::either;
  return tunnel;
}

}  // namespace engine
