#pragma once
// Where the headers of a frame lie that a device is to complete.

#include "net/ethernet.h"
#include "net/ip.h"

namespace engine {

/// Lengths of the headers of a TCP or UDP frame that this engine composed.
struct HeaderLengths {
  uint16_t ethernet = 0;
  uint16_t ip = 0;
  uint16_t transport = 0;
  bool ipv4 = false;
  bool tcp = false;
};

/// Reads them off a frame to send; it is taken to be well formed.
inline HeaderLengths header_lengths(const Frame& frame) {
  const EtherType ethernet = read_ethernet(frame);
  const uint8_t* const ip = frame.head + ethernet.length;
  const bool ipv4 = ethernet.type == kEtherTypeIpv4;
  const auto ip_length = static_cast<uint16_t>(ipv4 ? (ip[0] & 0xf) * 4 : kIpv6Length);
  const bool tcp = (ipv4 ? ip[9] : ip[6]) == kProtocolTcp;
  const auto transport = static_cast<uint16_t>(tcp ? ip[ip_length + 12] / 16 * 4 : 8);
  return {ethernet.length, ip_length, transport, ipv4, tcp};
}

/// Whether the device is to cut the payload into segments.
inline bool to_be_cut(const Frame& frame) {
  return frame.segment_size != 0 && frame.payload_length > frame.segment_size;
}

}  // namespace engine
