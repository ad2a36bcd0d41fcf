#pragma once
// What routers say of a packet that was longer than the MTU of the next link, and that they may not
// fragment: ICMP "fragmentation needed" (RFC 1191 section 4), ICMPv6 "packet too big" (RFC 4443
// section 3.2).

#include <cstdint>
#include <optional>

#include "net/address.h"
#include "net/rx_segment.h"

namespace engine {

/// The TCP packet that was too long, as its sender wrote it, and what would have fit.
struct TooLongPacket {
  IpAddress source;
  IpAddress destination;
  uint16_t source_port = 0;
  uint16_t destination_port = 0;
  uint32_t sequence = 0;
  uint32_t mtu = 0;  ///< bytes of an IP packet
};

/// Whether `segment` is such a message, about whatever packet.
bool is_too_long_message(const RxSegment& segment);
/// What the message says. Nothing: it is another frame, its checksum is wrong, or it
/// does not quote the beginning of a TCP packet up to the sequence number. An old router's ICMP
/// message has no MTU; then it is the next plateau below the quoted packet's length (RFC 1191
/// section 7.1).
std::optional<TooLongPacket> read_too_long_message(const RxSegment& segment);

}  // namespace engine
