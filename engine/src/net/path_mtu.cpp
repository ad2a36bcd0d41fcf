#include "net/path_mtu.h"

#include <algorithm>
#include <array>
#include <span>

#include "net/checksum.h"
#include "net/ip.h"

namespace engine {
namespace {

constexpr uint8_t kUnreachable = 3;          // RFC 792
constexpr uint8_t kFragmentationNeeded = 4;  // its code
constexpr uint8_t kPacketTooBig = 2;         // RFC 4443

constexpr size_t kMessageHeader = 8;  ///< then comes the quoted packet
constexpr size_t kQuotedOfTcp = 8;    ///< ports and sequence number; more is not promised (RFC 792)

/// RFC 1191 section 7.1, table 7-1.
constexpr std::array<uint32_t, 11> kPlateaus{65535, 32000, 17914, 8166, 4352, 2002,
                                             1492,  1006,  508,   296,  68};

/// An ICMP or ICMPv6 message of this kind.
struct RouterMessage {
  IpAddress source;
  IpAddress destination;
  std::span<const uint8_t> bytes;  ///< from its header on

  bool ipv4() const { return source.is_v4(); }
};

std::optional<RouterMessage> find_message(const RxSegment& segment) {
  const Frame& frame = *segment.frame;
  if (segment.kind != PacketKind::other || segment.protocol == 0 || frame.payload != nullptr)
    return std::nullopt;
  const size_t length = segment.payload_length;
  if (length < kMessageHeader || segment.payload().size() < length) return std::nullopt;
  const RouterMessage message{segment.source(), segment.destination(), {segment.header, length}};
  const bool too_long =
      segment.ipv4 ? segment.protocol == kProtocolIcmp && message.bytes[0] == kUnreachable &&
                         message.bytes[1] == kFragmentationNeeded
                   : segment.protocol == kProtocolIcmpv6 && message.bytes[0] == kPacketTooBig;
  return too_long ? std::optional(message) : std::nullopt;
}

bool has_right_checksum(const RouterMessage& message) {
  const ChecksumSum pseudo =
      message.ipv4() ? 0
                     : pseudo_header_sum(message.source, message.destination, kProtocolIcmpv6,
                                         static_cast<uint32_t>(message.bytes.size()));
  return checksum_fold(checksum_add(pseudo, message.bytes.data(), message.bytes.size())) == 0xffff;
}

/// How long the IP header of a quoted TCP packet is; 0: it is another packet, a later fragment, or
/// the quote ends too early.
size_t quoted_header(std::span<const uint8_t> quote, bool ipv4) {
  const size_t fixed = ipv4 ? kIpv4Length : kIpv6Length;
  if (quote.size() < fixed + kQuotedOfTcp || quote[0] >> 4 != (ipv4 ? 4 : 6)) return 0;
  if (!ipv4) return quote[6] == kProtocolTcp ? kIpv6Length : 0;  // TCP is sent without others
  const size_t length = size_t{quote[0] & 0xfu} * 4;
  const bool first = (load_be<uint16_t>(quote.data() + 6) & 0x1fff) == 0;
  const bool fits = length >= kIpv4Length && length + kQuotedOfTcp <= quote.size();
  return quote[9] == kProtocolTcp && first && fits ? length : 0;
}

uint32_t plateau_below(uint32_t length) {
  const auto found =
      std::ranges::find_if(kPlateaus, [length](uint32_t mtu) { return mtu < length; });
  return found == kPlateaus.end() ? 0 : *found;
}

}  // namespace

bool is_too_long_message(const RxSegment& segment) {
  return find_message(segment).has_value();
}

std::optional<TooLongPacket> read_too_long_message(const RxSegment& segment) {
  const std::optional<RouterMessage> message = find_message(segment);
  if (!message || !has_right_checksum(*message)) return std::nullopt;
  const bool ipv4 = message->ipv4();
  const std::span<const uint8_t> quote = message->bytes.subspan(kMessageHeader);
  const size_t header = quoted_header(quote, ipv4);
  if (header == 0) return std::nullopt;
  const uint8_t* const ip = quote.data();
  const uint8_t* const tcp = ip + header;
  TooLongPacket packet;
  packet.source = ipv4 ? IpAddress::v4(load_be<uint32_t>(ip + 12)) : IpAddress::v6(ip + 8);
  packet.destination = ipv4 ? IpAddress::v4(load_be<uint32_t>(ip + 16)) : IpAddress::v6(ip + 24);
  packet.source_port = load_be<uint16_t>(tcp);
  packet.destination_port = load_be<uint16_t>(tcp + 2);
  packet.sequence = load_be<uint32_t>(tcp + 4);
  const uint8_t* const message_header = message->bytes.data();
  packet.mtu = ipv4 ? load_be<uint16_t>(message_header + 6) : load_be<uint32_t>(message_header + 4);
  if (ipv4 && packet.mtu == 0) packet.mtu = plateau_below(load_be<uint16_t>(ip + 2));
  return packet;
}

}  // namespace engine
