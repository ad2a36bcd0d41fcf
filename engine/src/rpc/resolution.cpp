#include "rpc/resolution.h"

#include <fmt/format.h>

#include "astf/profile.h"

namespace engine {

namespace {

/// After the first one, a second's worth. They are counted, so that a machine that was busy
/// elsewhere for that second does not take its gateway for silent.
constexpr int kLooks = 1 + 100;

}  // namespace

PortMask client_ports(const Ports& ports) {
  PortMask mask = 0;
  for (uint32_t port = 0; port < ports.infos().size(); port += 2)
    if (!ports.infos()[port].is_dummy) mask |= PortMask{1} << port;
  return mask;
}

bool Resolution::advance(double now) {
  if (missing_ == 0) return true;
  if (now < next_look_) return false;
  next_look_ = now + kLookPeriod;
  ++looks_;
  for (uint32_t port = 0; port < ports_->infos().size(); ++port) {
    const PortMask bit = PortMask{1} << port;
    if ((missing_ & bit) == 0) continue;
    const PortState state = ports_->state(port);
    if (state.resolved) {
      missing_ &= ~bit;
      continue;
    }
    const PortAddress& address = state.address;
    if (!address.gateway && !address.ipv6_gateway)
      throw ProfileError(fmt::format(
          "port {} has no destination: give it default_gw, default_gw_ipv6 or dest_mac in the "
          "configuration",
          port));
    if (looks_ >= kLooks)
      throw ProfileError(fmt::format(
          "port {}: its gateway does not answer {}; see that the other side is up, has that "
          "address and is on the same link",
          port, address.gateway ? "ARP" : "neighbour solicitations"));
  }
  return missing_ == 0;
}

}  // namespace engine
