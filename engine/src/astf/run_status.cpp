#include "astf/run_status.h"

#include <algorithm>

namespace engine {

RunStatus& RunStatus::operator+=(const RunStatus& other) {
  phase = std::min(phase, other.phase);
  client_flows += other.client_flows;
  server_flows += other.server_flows;
  intended += other.intended;
  opened += other.opened;
  late += other.late;
  unsent += other.unsent;
  held_wanted += other.held_wanted;
  held_opened += other.held_opened;
  held_refused += other.held_refused;
  established += other.established;
  return *this;
}

}  // namespace engine
