#include "astf/service.h"

#include "net/ethernet.h"
#include "net/ip.h"

namespace engine {

namespace {

constexpr uint16_t kFirstTransportPort = 0xff00;

/// Protocol and ports of an unfragmented packet without IPv6 extension headers; protocol 0: not
/// one.
struct PortsOfPacket {
  uint8_t protocol = 0;
  bool ipv6 = false;
  uint16_t source = 0;
  uint16_t destination = 0;

  bool has(uint16_t port) const { return source == port || destination == port; }
};

PortsOfPacket read_transport(const Frame& frame) {
  const EtherType ethernet = read_ethernet(frame);
  const bool ipv6 = ethernet.type == kEtherTypeIpv6;
  if (ethernet.length == 0 || (!ipv6 && ethernet.type != kEtherTypeIpv4)) return {};
  const uint8_t* const ip = frame.head + ethernet.length;
  const size_t available = frame.head_length - ethernet.length;
  if (available < kIpv4Length) return {};
  const size_t ip_length = ipv6 ? kIpv6Length : size_t{ip[0] & 0xfu} * 4;
  if (available < ip_length + 4) return {};
  const uint8_t protocol = ipv6 ? ip[6] : ip[9];
  if (protocol != kProtocolTcp && protocol != kProtocolUdp) return {};
  return {protocol, ipv6, load_be<uint16_t>(ip + ip_length), load_be<uint16_t>(ip + ip_length + 2)};
}

bool is_dhcp(const PortsOfPacket& packet) {
  return packet.ipv6 ? packet.has(546) || packet.has(547) : packet.has(67) || packet.has(68);
}

}  // namespace

bool is_for_service(const ServiceMode& mode, const Frame& frame) {
  if (mode.enabled) return true;
  if (!mode.filtered) return false;
  const PortsOfPacket packet = read_transport(frame);
  const bool udp = packet.protocol == kProtocolUdp;
  return packet.protocol == 0 ||
         ((mode.kinds & kBgp) != 0 && packet.protocol == kProtocolTcp && packet.has(179)) ||
         ((mode.kinds & kDhcp) != 0 && udp && is_dhcp(packet)) ||
         ((mode.kinds & kTransport) != 0 &&
          (packet.source >= kFirstTransportPort || packet.destination >= kFirstTransportPort)) ||
         ((mode.kinds & kMdns) != 0 && udp && packet.has(5353));
}

}  // namespace engine
