#pragma once
// A received frame, parsed and checked down to the transport header.

#include <cstddef>
#include <cstdint>
#include <optional>

#include "net/address.h"
#include "net/frame.h"
#include "net/path.h"

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

/// A TCP or UDP packet. Pointers go into the frame.
struct Packet {
  IpAddress source;
  IpAddress destination;
  uint16_t source_port = 0;
  uint16_t destination_port = 0;
  uint8_t traffic_class = 0;            ///< TOS byte; its low two bits are ECN (RFC 3168)
  uint8_t transport_header_length = 0;  ///< with TCP options
  uint16_t l3_offset = 0;               ///< of the IP header in the frame
  const uint8_t* transport = nullptr;   ///< TCP or UDP header
  const uint8_t* payload = nullptr;     ///< transport payload, contiguous
  uint32_t payload_length = 0;          ///< bytes; Ethernet padding is left out
  uint32_t payload_at_hand = 0;         ///< of them at `payload`; not all where the frame was cut
};

/// What an IP packet carries, and where that begins in its frame.
struct Transport {
  size_t offset = 0;
  size_t length = 0;  ///< header and payload, by the IP header
  uint8_t protocol = 0;
};

/// Reads the headers of an IP packet, and sets l3_offset and the addresses of `packet`. Nothing:
/// there is none, it is a fragment, or its header is damaged.
std::optional<Transport> find_transport(const Frame& frame, Packet& packet);

/// Parses `frame`. `packet` is valid for kinds tcp and udp, and its addresses for
/// bad_transport_sum. Checksums are verified unless the frame says trusted. A partial transport
/// checksum (the field holds the folded pseudo-header sum) is accepted where the frame says either:
/// elsewhere one damaged frame in 65,536 would pass for such a one.
PacketKind parse_packet(const Frame& frame, Packet& packet);

/// Writes the checksums of a TCP or UDP frame in one piece as they are to be on a wire. Others, and
/// those whose checksums are wrong, stay as they are.
void complete_checksums(Frame& frame);

/// The layer-2 path for an answer to `frame`: addresses swapped, VLAN tag kept.
Path reply_path(const Frame& frame);

}  // namespace engine
