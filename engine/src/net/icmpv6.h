#pragma once
// ICMPv6 of one port: neighbour discovery (RFC 4861) and echo (RFC 4443), as packets.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "net/address.h"
#include "net/ip.h"
#include "net/l2_header.h"

namespace engine {

/// ff02::1, all nodes on the link: RFC 4291 section 2.7.1.
inline constexpr IpAddress kAllNodes{0xff02'0000'0000'0000, 1};

inline bool is_multicast(const IpAddress& address) {
  return address.high >> 56 == 0xff;
}
/// The link-local address that a MAC address gives: RFC 4291 section 2.5.6 and appendix A.
IpAddress link_local(const MacAddress& mac);
/// The multicast address of those whose address ends like this one: RFC 4291 section 2.7.1.
IpAddress solicited_node(const IpAddress& address);
/// Where packets for a multicast address go: RFC 2464 section 7.
MacAddress multicast_mac(const IpAddress& address);

/// A neighbour solicitation or advertisement.
struct NeighbourMessage {
  bool advertisement = false;
  bool solicited = false;  ///< of an advertisement: it answers a solicitation
  IpAddress source;        ///< all zero: a host makes sure that its address is unique (RFC 4862)
  IpAddress destination;
  IpAddress target;                        ///< the address that is asked for, or told of
  std::optional<MacAddress> link_address;  ///< the source's (solicitation) or the target's
};

/// Reads one from an IPv6 packet that may have padding behind it. Nothing when it is another packet
/// or not valid by RFC 4861 sections 7.1.1 and 7.1.2.
std::optional<NeighbourMessage> read_neighbour_message(std::span<const uint8_t> packet);
/// Writes one with its IPv6 header to `to`; returns its length, at most 72 bytes.
size_t write_neighbour_message(uint8_t* to, const NeighbourMessage& message);

/// An echo request: RFC 4443 section 4.1.
struct EchoRequest {
  IpAddress source;
  IpAddress destination;
  std::span<const uint8_t> message;  ///< from the ICMPv6 header on
};

/// Reads one. Nothing when it is another packet, its lengths contradict each other, its checksum is
/// wrong, or its source is nobody to answer.
std::optional<EchoRequest> read_echo_request(std::span<const uint8_t> packet);

/// The ICMPv6 header of echo messages: type, code, checksum, identifier, sequence number.
inline constexpr size_t kEcho6Length = 8;

/// Writes the IPv6 and ICMPv6 headers of the reply from `source` to `to`, for data `data` that
/// follows; returns their length.
size_t write_echo_reply(uint8_t* to, const EchoRequest& request, const IpAddress& source,
                        std::span<const uint8_t> data);

}  // namespace engine
