#include "net/icmpv6.h"

#include <algorithm>

#include "net/checksum.h"

namespace engine {
namespace {

constexpr uint8_t kEchoRequest = 128;
constexpr uint8_t kEchoReply = 129;
constexpr uint8_t kSolicitation = 135;
constexpr uint8_t kAdvertisement = 136;

/// Nobody but a neighbour can send it: a router would have made it less.
constexpr uint8_t kNeighbourHopLimit = 255;
constexpr uint8_t kEchoHopLimit = 64;

constexpr size_t kNeighbourLength = 24;
constexpr size_t kOptionUnit = 8;
constexpr uint8_t kSourceLinkAddress = 1;
constexpr uint8_t kTargetLinkAddress = 2;
constexpr uint32_t kSolicitedFlag = 1u << 30;
constexpr uint32_t kOverrideFlag = 1u << 29;

/// An ICMPv6 message whose lengths agree with the packet's and whose checksum is right.
struct Message {
  IpAddress source;
  IpAddress destination;
  uint8_t hop_limit;
  std::span<const uint8_t> bytes;  ///< from the ICMPv6 header on
};

std::optional<Message> read_message(std::span<const uint8_t> packet) {
  if (packet.size() < kIpv6Length || packet[0] >> 4 != 6 || packet[6] != kProtocolIcmpv6)
    return std::nullopt;
  const size_t length = load_be<uint16_t>(packet.data() + 4);
  if (length < kEcho6Length || length > packet.size() - kIpv6Length) return std::nullopt;
  Message message{IpAddress::v6(packet.data() + 8), IpAddress::v6(packet.data() + 24), packet[7],
                  packet.subspan(kIpv6Length, length)};
  const ChecksumSum sum = pseudo_header_sum(message.source, message.destination, kProtocolIcmpv6,
                                            static_cast<uint32_t>(length));
  if (checksum_fold(checksum_add(sum, message.bytes.data(), length)) != 0xffff) return std::nullopt;
  return message;
}

void store_address(uint8_t* to, const IpAddress& address) {
  store_be(to, address.high);
  store_be(to + 8, address.low);
}

void write_ipv6(uint8_t* to, const IpAddress& source, const IpAddress& destination,
                uint8_t hop_limit, size_t length) {
  store_be<uint32_t>(to, 0x6000'0000);
  store_be(to + 4, static_cast<uint16_t>(length));
  to[6] = kProtocolIcmpv6;
  to[7] = hop_limit;
  store_address(to + 8, source);
  store_address(to + 24, destination);
}

/// The link-layer address among `options`; false: they are not valid.
bool read_options(std::span<const uint8_t> options, uint8_t wanted,
                  std::optional<MacAddress>& link_address) {
  while (!options.empty()) {
    if (options.size() < 2) return false;
    const size_t length = options[1] * kOptionUnit;
    if (length == 0 || length > options.size()) return false;
    if (options[0] == wanted && length == kOptionUnit)
      std::copy_n(options.begin() + 2, sizeof(MacAddress), link_address.emplace().begin());
    options = options.subspan(length);
  }
  return true;
}

}  // namespace

IpAddress link_local(const MacAddress& mac) {
  const uint64_t low = uint64_t(mac[0] ^ 0x02) << 56 | uint64_t{mac[1]} << 48 |
                       uint64_t{mac[2]} << 40 | 0xff'fe00'0000 | uint64_t{mac[3]} << 16 |
                       uint64_t{mac[4]} << 8 | mac[5];
  return {0xfe80'0000'0000'0000, low};
}

IpAddress solicited_node(const IpAddress& address) {
  return {0xff02'0000'0000'0000, 0x1'ff00'0000 | (address.low & 0xff'ffff)};
}

MacAddress multicast_mac(const IpAddress& address) {
  MacAddress mac{0x33, 0x33};
  store_be(mac.data() + 2, address.low32());
  return mac;
}

std::optional<NeighbourMessage> read_neighbour_message(std::span<const uint8_t> packet) {
  const auto message = read_message(packet);
  if (!message || message->hop_limit != kNeighbourHopLimit) return std::nullopt;
  const std::span<const uint8_t> bytes = message->bytes;
  if (bytes.size() < kNeighbourLength || bytes[1] != 0) return std::nullopt;
  if (bytes[0] != kSolicitation && bytes[0] != kAdvertisement) return std::nullopt;

  NeighbourMessage read;
  read.advertisement = bytes[0] == kAdvertisement;
  read.solicited =
      read.advertisement && (load_be<uint32_t>(bytes.data() + 4) & kSolicitedFlag) != 0;
  read.source = message->source;
  read.destination = message->destination;
  read.target = IpAddress::v6(bytes.data() + 8);
  if (is_multicast(read.target)) return std::nullopt;
  if (!read_options(bytes.subspan(kNeighbourLength),
                    read.advertisement ? kTargetLinkAddress : kSourceLinkAddress,
                    read.link_address))
    return std::nullopt;
  if (read.solicited && is_multicast(read.destination)) return std::nullopt;
  if (!read.advertisement && read.source == IpAddress{} &&
      (read.link_address || read.destination != solicited_node(read.target)))
    return std::nullopt;
  return read;
}

size_t write_neighbour_message(uint8_t* to, const NeighbourMessage& message) {
  const size_t length = kNeighbourLength + (message.link_address ? kOptionUnit : 0);
  write_ipv6(to, message.source, message.destination, kNeighbourHopLimit, length);
  uint8_t* const bytes = to + kIpv6Length;
  store_be<uint32_t>(bytes, uint32_t{message.advertisement ? kAdvertisement : kSolicitation} << 24);
  store_be<uint32_t>(bytes + 4, message.advertisement
                                    ? kOverrideFlag | (message.solicited ? kSolicitedFlag : 0)
                                    : 0);
  store_address(bytes + 8, message.target);
  if (message.link_address) {
    bytes[kNeighbourLength] = message.advertisement ? kTargetLinkAddress : kSourceLinkAddress;
    bytes[kNeighbourLength + 1] = 1;
    std::ranges::copy(*message.link_address, bytes + kNeighbourLength + 2);
  }
  const ChecksumSum sum = pseudo_header_sum(message.source, message.destination, kProtocolIcmpv6,
                                            static_cast<uint32_t>(length));
  store_be(bytes + 2, checksum_finish(checksum_add(sum, bytes, length)));
  return kIpv6Length + length;
}

std::optional<EchoRequest> read_echo_request(std::span<const uint8_t> packet) {
  const auto message = read_message(packet);
  if (!message || message->bytes[0] != kEchoRequest || message->bytes[1] != 0) return std::nullopt;
  if (message->source == IpAddress{} || is_multicast(message->source)) return std::nullopt;
  return EchoRequest{message->source, message->destination, message->bytes};
}

size_t write_echo_reply(uint8_t* to, const EchoRequest& request, const IpAddress& source,
                        std::span<const uint8_t> data) {
  write_ipv6(to, source, request.source, kEchoHopLimit, kEcho6Length + data.size());
  uint8_t* const reply = to + kIpv6Length;
  store_be<uint32_t>(reply, uint32_t{kEchoReply} << 24);
  std::copy_n(request.message.begin() + 4, 4, reply + 4);
  ChecksumSum sum = pseudo_header_sum(source, request.source, kProtocolIcmpv6,
                                      static_cast<uint32_t>(kEcho6Length + data.size()));
  sum = checksum_add(sum, reply, kEcho6Length);
  store_be(reply + 2, checksum_finish(checksum_add(sum, data.data(), data.size())));
  return kIpv6Length + kEcho6Length;
}

}  // namespace engine
