#pragma once
// The Ethernet header on the wire: IEEE 802.3, with at most two tags (IEEE 802.1Q, 802.1ad).

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "net/address.h"
#include "net/frame.h"
#include "net/l2_header.h"

namespace engine {

inline constexpr uint16_t kEtherTypeIpv4 = 0x0800;
inline constexpr uint16_t kEtherTypeArp = 0x0806;
inline constexpr uint16_t kEtherTypeVlan = 0x8100;
inline constexpr uint16_t kEtherTypeIpv6 = 0x86dd;
inline constexpr uint16_t kEtherTypeServiceVlan = 0x88a8;

inline constexpr size_t kEthernetLength = 14;
inline constexpr size_t kVlanTagLength = 4;
inline constexpr uint16_t kMaxVlan = 4095;  ///< a VLAN identifier has 12 bits

constexpr uint16_t ether_type_of_ip(bool ipv4) {
  return ipv4 ? kEtherTypeIpv4 : kEtherTypeIpv6;
}

constexpr bool is_vlan_type(uint16_t type) {
  return type == kEtherTypeVlan || type == kEtherTypeServiceVlan;
}

/// The tags of a VLAN, or of two, the outer one first, with the types that are usual: of one
/// 802.1Q's, of two an S-tag before that. 0 as `outer`: none.
constexpr VlanTags vlan_tags(uint16_t outer, uint16_t inner = 0) {
  constexpr auto tag = [](uint32_t type, uint16_t id) { return type << 16 | id; };
  if (outer == 0) return {};
  if (inner == 0) return {tag(kEtherTypeVlan, outer), 0};
  return {tag(kEtherTypeServiceVlan, outer), tag(kEtherTypeVlan, inner)};
}

/// Bytes of a packet's room that `tags` take, on a link whose MTU leaves room for one tag of 802.1Q
/// and for no other.
constexpr uint32_t tag_bytes_in_mtu(const VlanTags& tags) {
  const uint32_t count = (tags.outer != 0 ? 1 : 0) + (tags.inner != 0 ? 1 : 0);
  const uint32_t beside = tags.outer >> 16 == kEtherTypeVlan ? 1 : 0;
  return (count - beside) * static_cast<uint32_t>(kVlanTagLength);
}

/// What follows the addresses of a received frame.
struct EtherType {
  uint16_t type = 0;    ///< of the payload
  uint16_t length = 0;  ///< of the Ethernet header with its tags; 0: the frame is too short for one
  VlanTags tags{};
};

/// Reads the Ethernet header at the head of `frame`.
inline EtherType read_ethernet(const Frame& frame) {
  if (frame.head_length < kEthernetLength) return {};
  EtherType found{load_be<uint16_t>(frame.head + 12), kEthernetLength};
  for (uint32_t VlanTags::*const tag : {&VlanTags::outer, &VlanTags::inner}) {
    if (!is_vlan_type(found.type)) break;
    if (frame.head_length < found.length + kVlanTagLength) return {};
    found.tags.*tag = load_be<uint32_t>(frame.head + found.length - 2);
    found.type = load_be<uint16_t>(frame.head + found.length + 2);
    found.length += kVlanTagLength;
  }
  return found;
}

/// Writes the Ethernet header of `l2` for a payload of `type`; returns its length (14 to 22).
inline size_t write_ethernet(uint8_t* to, const L2Header& l2, uint16_t type) {
  static_assert(offsetof(L2Header, destination) == 0 && offsetof(L2Header, source) == 6);
  std::memcpy(to, &l2, 12);
  uint8_t* at = to + 12;
  for (const uint32_t tag : {l2.tags.outer, l2.tags.inner}) {
    if (tag == 0) break;
    store_be(at, tag);
    at += kVlanTagLength;
  }
  store_be(at, type);
  return static_cast<size_t>(at + 2 - to);
}

}  // namespace engine
