#pragma once
// The frame that nearly all of a run's frames are, told from others and parsed in one go.

#include <algorithm>

#include "net/ethernet.h"
#include "net/ip.h"
#include "net/packet.h"

namespace engine {

/// Length of the TCP header without options.
inline constexpr uint32_t kTcpHeader = 20;

/// Parses the usual frame: untagged, IPv4 without options, not a fragment, TCP. Its checksums are
/// not looked at, and where its payload is, is left to `find_payload`. False: it is another one, or
/// damaged, and `packet` is as it was. Few comparisons tell, and nothing is written before. In one
/// piece with its callers.
[[gnu::always_inline]] inline bool parse_usual(const Frame& frame, Packet& packet) {
  constexpr uint32_t kIp = kEthernetLength;
  constexpr uint32_t kTcp = kIp + kIpv4Length;
  const uint8_t* const head = frame.head;
  const uint32_t in_head = frame.head_length;
  if (in_head < kTcp + kTcpHeader) return false;
  // EtherType, version and header length; fragment fields and protocol.
  if ((load_be<uint32_t>(head + kIp - 2) & 0xffff'ff00) != 0x0800'4500 ||
      (load_be<uint32_t>(head + kIp + 6) & 0x3fff'00ff) != kProtocolTcp)
    return false;
  const uint32_t header = head[kTcp + 12] >> 2 & 0x3c;
  const uint32_t before_payload = kTcp + header;
  const uint32_t end = load_be<uint16_t>(head + kIp + 2) + kIp;
  if (header < kTcpHeader || before_payload > in_head || end < before_payload ||
      end > in_head + frame.payload_length ||
      (frame.payload != nullptr && before_payload != in_head))
    return false;
  packet.source = IpAddress::v4(load_be<uint32_t>(head + kIp + 12));
  packet.destination = IpAddress::v4(load_be<uint32_t>(head + kIp + 16));
  packet.source_port = load_be<uint16_t>(head + kTcp);
  packet.destination_port = load_be<uint16_t>(head + kTcp + 2);
  packet.traffic_class = head[kIp + 1];
  packet.transport_header_length = static_cast<uint8_t>(header);
  packet.l3_offset = kIp;
  packet.transport = head + kTcp;
  packet.payload_length = end - before_payload;
  return true;
}

/// Finds the payload of a packet whose headers are parsed.
inline void find_payload(const Frame& frame, Packet& packet) {
  const uint8_t* const behind = packet.transport + packet.transport_header_length;
  const auto in_head = static_cast<uint32_t>(frame.head + frame.head_length - behind);
  const bool elsewhere = frame.payload != nullptr;
  packet.payload = elsewhere ? frame.payload : behind;
  packet.payload_at_hand =
      std::min(packet.payload_length, elsewhere ? frame.payload_length : in_head);
}

}  // namespace engine
