#include "rpc/latency/latency_control.h"

#include <fmt/format.h>

#include <algorithm>

#include "net/address_text.h"
#include "rpc/protocol/rpc_error.h"

namespace engine {

namespace {

constexpr double kMostPackets = 1e6;  ///< per second

/// At least one packet a second.
Nanoseconds interval_of(double rate) {
  return static_cast<Nanoseconds>(kSecond / std::clamp(rate, 1.0, kMostPackets));
}

}  // namespace

void LatencyControl::check_idle() const {
  if (active_) throw refused("Latency state is not idle, should stop latency first");
}

void LatencyControl::start(const Addresses& addresses, double rate, PortMask mask) {
  check_idle();
  const auto port_count = static_cast<uint32_t>(ports_.infos().size());
  LatencyOptions options;
  options.interval = interval_of(rate);
  options.warm_up = static_cast<uint64_t>(std::clamp(rate, 0.0, kMostPackets) / 2);
  options.epoch = ++epoch_;
  const auto address = [](uint32_t first, uint32_t offset, uint32_t port) {
    return first + port / 2 * offset;
  };
  for (uint32_t port = 0; port < port_count; ++port) {
    const uint32_t server = address(addresses.server, addresses.server_pair_offset, port);
    for (uint32_t owner = 0; owner < port_count; ++owner)
      if (ports_.state(owner).address.ipv4 == server)
        throw refused(fmt::format("Latency dst IP and dual_port might reach port {} with IP {}",
                                  owner, ipv4_text(server)));
  }
  try {
    for (uint32_t port = 0; port < port_count; ++port) {
      if (ports_.infos()[port].is_dummy) continue;
      options.port = static_cast<uint8_t>(port);
      options.sends = (mask >> port & 1) != 0;
      options.source = address(addresses.client, addresses.client_pair_offset, port);
      options.destination = address(addresses.server, addresses.server_pair_offset, port);
      if (port % 2 == 1) std::swap(options.source, options.destination);
      streams_.start(port, options);
    }
  } catch (const ProfileError& error) {
    streams_.stop();
    throw refused(error.what());
  }
  active_ = true;
}

void LatencyControl::update(double rate) {
  if (!active_) throw refused("Latency is not active, can't update rate");
  streams_.set_interval(interval_of(rate));
}

void LatencyControl::stop() {
  if (active_) streams_.stop();
  active_ = false;
}

LatencyControl::Addresses latency_addresses(const Profile& profile) {
  const auto first = [&profile](bool client) -> const AddressRange& {
    const auto found = std::ranges::find(profile.ranges, client, &AddressRange::client);
    if (found == profile.ranges.end()) throw refused("No valid ip range for latency");
    return *found;
  };
  const AddressRange& clients = first(true);
  const AddressRange& servers = first(false);
  return {clients.first, servers.first, clients.pair_offset, servers.pair_offset};
}

}  // namespace engine
