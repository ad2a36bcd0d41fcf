#pragma once
// GTP-U: IP packets in UDP, as between the nodes of a mobile network (3GPP TS 29.281).

#include <cstdint>
#include <optional>

#include "net/address.h"
#include "net/frame.h"
#include "net/ip.h"

namespace engine {

inline constexpr uint16_t kGtpuPort = 2152;

/// What the headers before a packet in a tunnel say.
struct Tunnel {
  IpAddress source;  ///< of the outer IP header, as `destination` of one family
  IpAddress destination;
  uint32_t teid = 0;  ///< tunnel endpoint identifier
  uint16_t port = 0;  ///< UDP source port; 0: that of the packet inside
  bool operator==(const Tunnel&) const = default;
};

/// The most that a tunnel adds to a packet: IPv6, UDP and GTP-U headers.
inline constexpr uint32_t kMostTunnelBytes = kIpv6Length + 8 + 8;

/// Puts the IP packet of `frame`, whose checksums are complete, into `tunnel`, in the same VLAN. Of
/// its traffic class the DSCP goes outside; ECN does not (RFC 6040, compatibility mode). False: its
/// head has no room, and it stays as it was.
bool encapsulate(Frame& frame, const Tunnel& tunnel);

/// Takes the packet out of `frame`: its head then begins with the Ethernet header before the packet
/// inside. Returns what tunnel it was in; nullopt: in none, or its headers are damaged, and the
/// frame stays as it was. Extension headers, which 5G has, are left out.
std::optional<Tunnel> decapsulate(Frame& frame);

}  // namespace engine
