#pragma once
// IPv4 and IPv6 addresses in one type, so that nothing above the wire format tells them apart.

#include <compare>
#include <cstdint>

#include "base/byte_order.h"

namespace engine {

/// An IP address, host byte order. IPv4 is kept as IPv4-mapped IPv6 (RFC 4291 section 2.5.5.2).
struct IpAddress {
  uint64_t high = 0;
  uint64_t low = 0;

  static constexpr uint64_t kMappedPrefix = 0x0000'ffff'0000'0000ULL;

  static constexpr IpAddress v4(uint32_t address) { return {0, kMappedPrefix | address}; }
  static IpAddress v6(const uint8_t bytes[16]) {
    return {load_be<uint64_t>(bytes), load_be<uint64_t>(bytes + 8)};
  }

  constexpr bool is_v4() const { return high == 0 && (low >> 32) == 0xffff; }
  /// The low 32 bits: the IPv4 address, or the part of an IPv6 address that ASTF varies.
  constexpr uint32_t low32() const { return static_cast<uint32_t>(low); }

  auto operator<=>(const IpAddress&) const = default;
  /// Without a branch between the halves.
  constexpr bool operator==(const IpAddress& other) const {
    return ((high ^ other.high) | (low ^ other.low)) == 0;
  }
};

}  // namespace engine
