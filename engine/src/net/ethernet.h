#pragma once
// The Ethernet header on the wire: IEEE 802.3, with at most one IEEE 802.1Q tag.

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "net/address.h"
#include "net/frame.h"
#include "net/path.h"

namespace engine {

inline constexpr uint16_t kEtherTypeIpv4 = 0x0800;
inline constexpr uint16_t kEtherTypeArp = 0x0806;
inline constexpr uint16_t kEtherTypeVlan = 0x8100;
inline constexpr uint16_t kEtherTypeIpv6 = 0x86dd;

inline constexpr size_t kEthernetLength = 14;
inline constexpr size_t kVlanTagLength = 4;
inline constexpr uint16_t kMaxVlan = 4095;  ///< a VLAN identifier has 12 bits
inline constexpr uint16_t kVlanIdMask = 0x0fff;

constexpr uint16_t ether_type_of_ip(bool ipv4) {
  return ipv4 ? kEtherTypeIpv4 : kEtherTypeIpv6;
}

/// What follows the addresses of a received frame.
struct EtherType {
  uint16_t type = 0;    ///< of the payload
  uint16_t vlan = 0;    ///< tag control information; 0: untagged
  uint16_t length = 0;  ///< of the Ethernet header with its tag; 0: the frame is too short for one
};

/// Reads the Ethernet header at the head of `frame`.
inline EtherType read_ethernet(const Frame& frame) {
  if (frame.head_length < kEthernetLength) return {};
  const uint16_t outer = load_be<uint16_t>(frame.head + 12);
  if (outer != kEtherTypeVlan) return {outer, 0, kEthernetLength};
  if (frame.head_length < kEthernetLength + kVlanTagLength) return {};
  return {load_be<uint16_t>(frame.head + 16), load_be<uint16_t>(frame.head + 14),
          kEthernetLength + kVlanTagLength};
}

/// Writes the Ethernet header of `path` for a payload of `type`; returns its length (14 or 18).
inline size_t write_ethernet(uint8_t* to, const Path& path, uint16_t type) {
  static_assert(offsetof(Path, destination) == 0 && offsetof(Path, source) == 6);
  std::memcpy(to, &path, 12);
  if (path.vlan == 0) {
    store_be(to + 12, type);
    return kEthernetLength;
  }
  store_be(to + 12, kEtherTypeVlan);
  store_be(to + 14, path.vlan);
  store_be(to + 16, type);
  return kEthernetLength + kVlanTagLength;
}

}  // namespace engine
