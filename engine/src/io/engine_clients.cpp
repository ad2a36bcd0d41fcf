// The clients that profiles play, and the connections they have.

#include "io/engine_implementation.h"

namespace engine {

void Engine::enable_clients(const AddressRanges& addresses, bool enabled) {
  implementation_->on_all_cores(
      [&](DataCore& core, Nanoseconds, DataThread&) { core.enable_clients(addresses, enabled); });
}

ClientAddresses Engine::clients() const {
  ClientAddresses all;
  implementation_->on_all_cores([&](DataCore& core, Nanoseconds, DataThread&) {
    const ClientAddresses own = core.clients();
    for (const auto& [first, last] : own.known.ranges()) all.known.add(first, last);
    for (const auto& [first, last] : own.disabled.ranges()) all.disabled.add(first, last);
  });
  return all;
}

std::vector<std::vector<tcp::Info>> Engine::watched_flows(const std::string& id) {
  std::vector<std::vector<tcp::Info>> cores;
  implementation_->on_all_cores([&](DataCore& core, Nanoseconds now, DataThread&) {
    cores.push_back(core.watched_flows(id, now));
  });
  return cores;
}

}  // namespace engine
