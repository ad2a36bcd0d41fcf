#pragma once
// Writing IP headers of frames to send.

#include <cstdint>

#include "net/address.h"
#include "net/checksum.h"
#include "net/frame.h"
#include "net/ip.h"

namespace engine {

/// Writes an IPv4 header (DF set, identification 0, RFC 6864) before `transport_length` bytes;
/// returns where the transport header goes. `tos`: its low two bits are ECN (RFC 3168). With
/// `fill_checksum` false the header checksum stays 0 for the device.
[[gnu::always_inline]] inline uint8_t* compose_ipv4(uint8_t* at, uint32_t source,
                                                    uint32_t destination, uint8_t protocol,
                                                    uint32_t transport_length, uint8_t tos,
                                                    uint8_t ttl, bool fill_checksum) {
  const auto length = static_cast<uint16_t>(kIpv4Length + transport_length);
  store_be<uint16_t>(at, static_cast<uint16_t>(0x4500 | tos));
  store_be<uint16_t>(at + 2, length);
  store_be<uint32_t>(at + 4, 0x0000'4000);
  store_be<uint32_t>(at + 8, uint32_t{ttl} << 24 | uint32_t{protocol} << 16);
  store_be<uint32_t>(at + 12, source);
  store_be<uint32_t>(at + 16, destination);
  if (fill_checksum) {
    const ChecksumSum sum = ChecksumSum{0x4500u | tos} + length + 0x4000 +
                            (uint32_t{ttl} << 8 | protocol) + source + uint64_t{destination};
    store_be<uint16_t>(at + 10, checksum_finish(sum));
  }
  return at + kIpv4Length;
}

/// Writes an IPv6 header, as compose_ipv4.
inline uint8_t* compose_ipv6(uint8_t* at, const IpAddress& source, const IpAddress& destination,
                             uint8_t protocol, uint32_t transport_length, uint8_t tos,
                             uint8_t ttl) {
  store_be<uint32_t>(at, 0x6000'0000u | uint32_t{tos} << 20);
  store_be<uint16_t>(at + 4, static_cast<uint16_t>(transport_length));
  at[6] = protocol;
  at[7] = ttl;
  store_be<uint64_t>(at + 8, source.high);
  store_be<uint64_t>(at + 16, source.low);
  store_be<uint64_t>(at + 24, destination.high);
  store_be<uint64_t>(at + 32, destination.low);
  return at + kIpv6Length;
}

/// Writes the header of either.
inline uint8_t* compose_ip(uint8_t* at, const IpAddress& source, const IpAddress& destination,
                           uint8_t protocol, uint32_t transport_length, uint8_t tos, uint8_t ttl,
                           bool fill_checksum) {
  return source.is_v4()
             ? compose_ipv4(at, source.low32(), destination.low32(), protocol, transport_length,
                            tos, ttl, fill_checksum)
             : compose_ipv6(at, source, destination, protocol, transport_length, tos, ttl);
}

/// A frame whose headers are written, of IP at `ip` and of the transport, `length` bytes, at
/// `transport`, is for a device that completes its checksums.
inline void leave_checksums(Frame& frame, const uint8_t* ip, const uint8_t* transport,
                            uint32_t length) {
  frame.head_length = static_cast<uint16_t>(transport + length - frame.head);
  frame.headers = {static_cast<uint8_t>(ip - frame.head), static_cast<uint8_t>(transport - ip),
                   static_cast<uint8_t>(length)};
  frame.checksums = Checksums::partial;
}

}  // namespace engine
