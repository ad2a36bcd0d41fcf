#pragma once
// Writing IP headers of frames to send.

#include <cstdint>

#include "net/address.h"
#include "net/checksum.h"
#include "net/ip.h"

namespace engine {

/// Writes an IP header (IPv4: DF set, identification 0, RFC 6864) before `transport_length` bytes;
/// returns where the transport header goes. `tos`: its low two bits are ECN (RFC 3168). With
/// `fill_checksum` false the IPv4 header checksum stays 0 for the device.
inline uint8_t* compose_ip(uint8_t* at, const IpAddress& source, const IpAddress& destination,
                           uint8_t protocol, uint32_t transport_length, uint8_t tos, uint8_t ttl,
                           bool fill_checksum) {
  if (source.is_v4()) {
    store_be<uint16_t>(at, static_cast<uint16_t>(0x4500 | tos));
    store_be<uint16_t>(at + 2, static_cast<uint16_t>(kIpv4Length + transport_length));
    store_be<uint32_t>(at + 4, 0x0000'4000);
    store_be<uint32_t>(at + 8, uint32_t{ttl} << 24 | uint32_t{protocol} << 16);
    store_be<uint32_t>(at + 12, source.low32());
    store_be<uint32_t>(at + 16, destination.low32());
    if (fill_checksum) {
      const ChecksumSum sum =
          ChecksumSum{0x4500u | tos} + ((kIpv4Length + transport_length) & 0xffff) + 0x4000 +
          (uint32_t{ttl} << 8 | protocol) + (source.low32() >> 16) + (source.low32() & 0xffff) +
          (destination.low32() >> 16) + (destination.low32() & 0xffff);
      store_be<uint16_t>(at + 10, checksum_finish(sum));
    }
    return at + kIpv4Length;
  }
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

}  // namespace engine
