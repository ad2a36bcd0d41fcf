#pragma once
// Numbers of IP headers: RFC 791, RFC 8200, and the protocols in IANA's list.

#include <cstddef>
#include <cstdint>

namespace engine {

inline constexpr size_t kIpv4Length = 20;  ///< without options
inline constexpr size_t kIpv6Length = 40;  ///< without extension headers
inline constexpr size_t kUdpLength = 8;

// What every link carries, bytes of a packet: RFC 791 section 3.2, RFC 8200 section 5.
inline constexpr uint32_t kLeastMtuV4 = 68;
inline constexpr uint32_t kLeastMtuV6 = 1280;

inline constexpr uint8_t kProtocolIcmp = 1;
inline constexpr uint8_t kProtocolTcp = 6;
inline constexpr uint8_t kProtocolUdp = 17;
inline constexpr uint8_t kProtocolIcmpv6 = 58;

// ICMP types, RFC 792.
inline constexpr uint8_t kIcmpEchoReply = 0;
inline constexpr uint8_t kIcmpEchoRequest = 8;

}  // namespace engine
