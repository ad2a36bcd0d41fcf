#pragma once
// What tells a connection from others, open or in TIME_WAIT, as the headers of its packets have it.

#include <bit>
#include <cstdint>
#include <cstring>

#include "base/byte_order.h"

namespace engine {

/// Addresses and ports in the order and byte order of the headers that an end of a connection
/// receives, the remote's first, and the hash over them (FlowTable). Of IPv6 these are the
/// addresses' low 32 bits, all that ASTF varies. The upper ones are in the hash, and in
/// Ipv6Prefixes.
struct FlowKey {
  // Bits of `hash` that tell keys from each other instead of being hashed.
  static constexpr uint32_t kIpv6 = 1u << 30;
  static constexpr uint32_t kDatagram = 1u << 31;

  uint64_t addresses;
  uint32_t ports;
  uint32_t hash;

  /// Of two words, without a branch between them.
  bool operator==(const FlowKey& other) const {
    return ((addresses ^ other.addresses) | (ports_and_hash() ^ other.ports_and_hash())) == 0;
  }
  bool ipv6() const { return (hash & kIpv6) != 0; }
  bool datagram() const { return (hash & kDatagram) != 0; }
  uint32_t remote_low32() const { return load_be<uint32_t>(&addresses); }
  uint32_t local_low32() const {
    return load_be<uint32_t>(reinterpret_cast<const char*>(&addresses) + 4);
  }
  uint16_t remote_port() const { return load_be<uint16_t>(&ports); }
  uint16_t local_port() const {
    return load_be<uint16_t>(reinterpret_cast<const char*>(&ports) + 2);
  }
  /// The same as in headers that this end sends: its own first.
  uint64_t addresses_sent() const { return std::rotl(addresses, 32); }
  uint32_t ports_sent() const { return std::rotl(ports, 16); }

 private:
  uint64_t ports_and_hash() const {
    uint64_t both;
    std::memcpy(&both, reinterpret_cast<const char*>(this) + sizeof addresses, sizeof both);
    return both;
  }
};

static_assert(sizeof(FlowKey) == 16);

/// Key of one end of a connection, and its place in the flow table.
struct FlowIdentity : FlowKey {
  uint32_t table_next;  ///< next entry in the bucket of the flow table
  uint32_t prefixes;    ///< over IPv6: number in Ipv6Prefixes
};

}  // namespace engine
