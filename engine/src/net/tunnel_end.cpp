#include "net/tunnel_end.h"

#include <algorithm>
#include <utility>

#include "net/rx_segment.h"

namespace engine {
namespace {

bool of_flow(const RxSegment& packet) {
  return packet.protocol == kProtocolTcp || packet.protocol == kProtocolUdp;
}

}  // namespace

Tunnels::Tunnels(std::vector<TunnelRange> ranges, std::unordered_map<uint32_t, Tunnel> clients)
    : ranges_(std::move(ranges)), clients_(std::move(clients)) {
  std::ranges::sort(ranges_, {}, &TunnelRange::first);
}

std::optional<Tunnel> Tunnels::find(uint32_t client) const {
  if (const auto own = clients_.find(client); own != clients_.end()) return own->second;
  const auto behind = std::ranges::upper_bound(ranges_, client, {}, &TunnelRange::first);
  if (behind == ranges_.begin()) return std::nullopt;
  const TunnelRange& range = *(behind - 1);
  if (client > range.last) return std::nullopt;
  Tunnel tunnel = range.tunnel;
  tunnel.teid += (client - range.first) * range.teid_step;
  return tunnel;
}

bool TunnelEnd::pass_sent(Frame& frame) {
  const RxSegment packet = parse_unverified(frame);
  if (packet.protocol == 0) return true;
  const std::optional<Tunnel> tunnel = find(packet.source().low32(), packet.destination().low32());
  if (tunnel ? encapsulate(frame, *tunnel) : !of_flow(packet)) return true;
  ++drops_[Drop::no_tunnel];
  return false;
}

bool TunnelEnd::pass_received(Frame& frame) {
  const std::optional<Tunnel> tunnel = decapsulate(frame);
  const RxSegment packet = parse_unverified(frame);
  if (tunnel && packet.protocol != 0) {
    if (side_ == Side::client || learn(packet.source().low32(), *tunnel)) return true;
  } else if (!of_flow(packet)) {
    return true;
  }
  ++drops_[Drop::not_tunnelled];
  return false;
}

std::optional<Tunnel> TunnelEnd::find(uint32_t source, uint32_t destination) const {
  if (side_ == Side::client) return tunnels_ == nullptr ? std::nullopt : tunnels_->find(source);
  const auto learned = learned_.find(destination);
  return learned == learned_.end() ? std::nullopt : std::optional(learned->second);
}

// The other end may have changed its address or its identifier.
bool TunnelEnd::learn(uint32_t client, const Tunnel& tunnel) {
  if (learned_.size() == kMostLearned && !learned_.contains(client)) return false;
  learned_.insert_or_assign(client,
                            Tunnel{tunnel.destination, tunnel.source, tunnel.teid, tunnel.port});
  return true;
}

}  // namespace engine
