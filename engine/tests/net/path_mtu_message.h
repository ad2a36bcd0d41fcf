#pragma once
// What a router answers to a frame that is too long for its next link.

#include <algorithm>
#include <cstring>
#include <vector>

#include "net/compose.h"
#include "net/ethernet.h"
#include "net/ip.h"

namespace engine {

/// As is to be in the message; all else follows.
struct RouterSays {
  uint32_t mtu = 1400;
  size_t quoted_bytes = 28;  ///< of the packet, at most; IPv6: 20 more
  VlanTags tags{};           ///< the frame's
};

/// Completes the checksum of the ICMP or ICMPv6 message of a frame of `too_long_message`.
inline void complete_icmp(std::vector<uint8_t>& frame) {
  Frame seen;
  seen.head = frame.data();
  seen.head_length = static_cast<uint16_t>(frame.size());
  const size_t ethernet = read_ethernet(seen).length;
  const uint8_t* const ip = frame.data() + ethernet;
  const bool ipv4 = ip[0] >> 4 == 4;
  const size_t header = ipv4 ? kIpv4Length : kIpv6Length;
  uint8_t* const icmp = frame.data() + ethernet + header;
  const size_t length = frame.size() - ethernet - header;
  store_be<uint16_t>(icmp + 2, 0);
  const ChecksumSum pseudo =
      ipv4 ? 0
           : pseudo_header_sum(IpAddress::v6(ip + 8), IpAddress::v6(ip + 24), kProtocolIcmpv6,
                               static_cast<uint32_t>(length));
  store_be<uint16_t>(icmp + 2, checksum_finish(checksum_add(pseudo, icmp, length)));
}

/// The answer to `frame`, an untagged frame of IP.
inline std::vector<uint8_t> too_long_message(const std::vector<uint8_t>& frame,
                                             const RouterSays& says = {}) {
  const uint8_t* const packet = frame.data() + kEthernetLength;
  const bool ipv4 = packet[0] >> 4 == 4;
  const size_t quoted =
      std::min(frame.size() - kEthernetLength, says.quoted_bytes + (ipv4 ? 0 : 20));
  const auto length = static_cast<uint32_t>(8 + quoted);
  std::vector<uint8_t> answer(kEthernetLength + 2 * kVlanTagLength + kIpv6Length + length);
  L2Header back;
  std::memcpy(back.destination.data(), frame.data() + 6, 6);
  std::memcpy(back.source.data(), frame.data(), 6);
  back.tags = says.tags;
  uint8_t* at = answer.data();
  at += write_ethernet(at, back, ether_type_of_ip(ipv4));
  const IpAddress to =
      ipv4 ? IpAddress::v4(load_be<uint32_t>(packet + 12)) : IpAddress::v6(packet + 8);
  const IpAddress router = ipv4 ? IpAddress::v4(0xcb00'7101) : IpAddress{0x2001'0db8ULL << 32, 1};
  at = compose_ip(at, router, to, ipv4 ? kProtocolIcmp : kProtocolIcmpv6, length, 0, 64, true);
  at[0] = ipv4 ? 3 : 2;
  at[1] = ipv4 ? 4 : 0;
  store_be<uint32_t>(at + 4, says.mtu);
  std::copy_n(packet, quoted, at + 8);
  answer.resize(static_cast<size_t>(at + length - answer.data()));
  complete_icmp(answer);
  return answer;
}

}  // namespace engine
