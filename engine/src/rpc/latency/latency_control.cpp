#include "rpc/latency/latency_control.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "net/address_text.h"
#include "rpc/protocol/rpc_error.h"

namespace engine {

namespace {

constexpr double kMostPackets = 1e6;  ///< per second

/// At least one packet a second.
Nanoseconds interval_of(double rate) {
  return static_cast<Nanoseconds>(kSecond / std::clamp(rate, 1.0, kMostPackets));
}

/// The address of pair `port` / 2.
uint32_t address_of(uint32_t first, uint32_t offset, uint32_t port) {
  return first + port / 2 * offset;
}

}  // namespace

void LatencyControl::check_idle() const {
  if (active_ || waiting_) throw refused("Latency state is not idle, should stop latency first");
}

void LatencyControl::start(const Addresses& addresses, double rate, PortMask mask) {
  check_idle();
  check_addresses(addresses);
  const auto port_count = static_cast<uint32_t>(ports_.infos().size());
  LatencyOptions options;
  options.interval = interval_of(rate);
  options.warm_up = static_cast<uint64_t>(std::clamp(rate, 0.0, kMostPackets) / 2);
  options.epoch = ++epoch_;
  try {
    for (uint32_t port = 0; port < port_count; ++port) {
      if (ports_.infos()[port].is_dummy) continue;
      options.port = static_cast<uint8_t>(port);
      options.sends = (mask >> port & 1) != 0;
      options.source = address_of(addresses.client, addresses.client_pair_offset, port);
      options.destination = address_of(addresses.server, addresses.server_pair_offset, port);
      if (port % 2 == 1) std::swap(options.source, options.destination);
      streams_.start(port, options);
    }
  } catch (...) {
    streams_.stop();
    throw;
  }
  active_ = true;
}

Later LatencyControl::start_when_resolved(const Addresses& addresses, double rate, PortMask mask) {
  check_idle();
  check_addresses(addresses);
  waiting_ = std::make_shared<Start>(Start{{ports_, mask & client_ports(ports_)}});
  return [this, start = waiting_, addresses, rate, mask]() -> std::optional<Json> {
    if (!start->abandoned.empty()) throw refused(start->abandoned);
    try {
      if (!start->resolution.advance(clock_.now())) return std::nullopt;
    } catch (const std::exception& error) {
      waiting_ = nullptr;
      throw refused(error.what());
    }
    waiting_ = nullptr;
    this->start(addresses, rate, mask);
    return Json::object();
  };
}

/// Latency packets to the ports themselves would not leave the engine.
void LatencyControl::check_addresses(const Addresses& addresses) const {
  const auto port_count = static_cast<uint32_t>(ports_.infos().size());
  for (uint32_t port = 0; port < port_count; ++port) {
    const uint32_t server = address_of(addresses.server, addresses.server_pair_offset, port);
    for (uint32_t owner = 0; owner < port_count; ++owner)
      if (ports_.state(owner).address.ipv4 == server)
        throw refused(fmt::format("Latency dst IP and dual_port might reach port {} with IP {}",
                                  owner, ipv4_text(server)));
  }
}

void LatencyControl::update(double rate) {
  if (!active_) throw refused("Latency is not active, can't update rate");
  streams_.set_interval(interval_of(rate));
}

void LatencyControl::stop() {
  if (active_) streams_.stop();
  active_ = false;
  abandon_start("latency was stopped before its streams began");
}

void LatencyControl::abandon_start(const std::string& why) {
  if (const std::shared_ptr<Start> start = std::exchange(waiting_, nullptr)) start->abandoned = why;
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
