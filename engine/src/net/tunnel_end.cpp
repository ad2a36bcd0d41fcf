#include "net/tunnel_end.h"

#include <algorithm>
#include <utility>

#include "net/ethernet.h"
#include "net/ip.h"

namespace engine {
namespace {

/// What an IP header says of whom it is between.
struct Ends {
  uint32_t source = 0;  ///< over IPv6 the low 32 bits
  uint32_t destination = 0;
  uint8_t protocol = 0;

  bool of_flow() const { return protocol == kProtocolTcp || protocol == kProtocolUdp; }
};

/// nullopt: there is no IP header, or it is not whole.
std::optional<Ends> ends_of(const Frame& frame) {
  const EtherType ethernet = read_ethernet(frame);
  const uint8_t* const ip = frame.head + ethernet.length;
  const auto room = static_cast<size_t>(frame.head_length - ethernet.length);
  if (ethernet.type == kEtherTypeIpv4 && room >= kIpv4Length)
    return Ends{load_be<uint32_t>(ip + 12), load_be<uint32_t>(ip + 16), ip[9]};
  if (ethernet.type == kEtherTypeIpv6 && room >= kIpv6Length)
    return Ends{load_be<uint32_t>(ip + 20), load_be<uint32_t>(ip + 36), ip[6]};
  return std::nullopt;
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
  const std::optional<Ends> ends = ends_of(frame);
  if (!ends) return true;
  const std::optional<Tunnel> tunnel = find(ends->source, ends->destination);
  if (tunnel ? encapsulate(frame, *tunnel) : !ends->of_flow()) return true;
  ++drops_[Drop::no_tunnel];
  return false;
}

bool TunnelEnd::pass_received(Frame& frame) {
  const std::optional<Tunnel> tunnel = decapsulate(frame);
  const std::optional<Ends> ends = ends_of(frame);
  if (tunnel && ends) {
    if (side_ == Side::client || learn(ends->source, *tunnel)) return true;
  } else if (!ends || !ends->of_flow()) {
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
