#include "astf/service.h"

namespace engine {

namespace {

constexpr uint16_t kFirstTransportPort = 0xff00;

bool has_port(const RxSegment& segment, uint16_t port) {
  return segment.source_port() == port || segment.destination_port() == port;
}

bool is_dhcp(const RxSegment& segment) {
  return segment.ipv4 ? has_port(segment, 67) || has_port(segment, 68)
                      : has_port(segment, 546) || has_port(segment, 547);
}

}  // namespace

bool is_for_service(const ServiceMode& mode, const RxSegment& segment) {
  if (mode.enabled) return true;
  if (!mode.filtered) return false;
  const bool udp = segment.kind == PacketKind::udp;
  if (!udp && segment.kind != PacketKind::tcp) return segment.kind == PacketKind::other;
  const auto asked_for = [&mode](ServiceKind kind) { return (mode.kinds & kind) != 0; };
  return (asked_for(kBgp) && !udp && has_port(segment, 179)) ||
         (asked_for(kDhcp) && udp && is_dhcp(segment)) ||
         (asked_for(kTransport) && (segment.source_port() >= kFirstTransportPort ||
                                    segment.destination_port() >= kFirstTransportPort)) ||
         (asked_for(kMdns) && udp && has_port(segment, 5353));
}

}  // namespace engine
