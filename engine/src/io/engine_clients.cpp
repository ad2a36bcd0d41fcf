// The clients that profiles play.

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

}  // namespace engine
