#include "rpc/profile/profile_slot.h"

namespace engine {

namespace {

/// How long server flows may take to end by themselves once no client flow is open (seconds):
/// TIME_WAIT of the side that closed first, and a retransmission of the last segment.
constexpr double kServerGrace = 1.0;

bool no_flows(const RunStatus& run) {
  return run.client_flows + run.server_flows == 0;
}

bool drained(ProfileSlot& slot, double now) {
  if (slot.run.client_flows > 0) {
    slot.clients_done.reset();
    return false;
  }
  if (!slot.clients_done) slot.clients_done = now;
  return no_flows(slot.run) || now - *slot.clients_done >= kServerGrace;
}

RunStep step_while_opening(const ProfileSlot& slot, double now) {
  const StartOptions& options = slot.options;
  const double elapsed = now - slot.started;
  const bool endless = options.duration_s <= 0;
  if (endless && options.drain_limit_s > 0 && elapsed >= options.drain_limit_s)
    return RunStep::finish;
  if (options.establish_limit_s > 0 && elapsed >= options.establish_limit_s &&
      slot.run.established == 0)
    return options.no_close ? RunStep::finish : RunStep::stop_opening;
  return RunStep::carry_on;
}

RunStep step_while_draining(ProfileSlot& slot, double now) {
  const StartOptions& options = slot.options;
  if (!slot.draining) slot.draining = now;
  if (options.drain_limit_s > 0) {
    if (now - *slot.draining >= options.drain_limit_s) return RunStep::finish;
  } else if (options.no_close) {
    return RunStep::finish;
  }
  return drained(slot, now) ? RunStep::finish : RunStep::carry_on;
}

}  // namespace

RunStep next_step(ProfileSlot& slot, double now) {
  TrafficTime& traffic = slot.statistics.traffic;
  if (!no_flows(slot.run) || slot.run.opened > 0) {
    if (!traffic.first) traffic.first = now;
    if (!no_flows(slot.run)) traffic.last.reset();
  }
  switch (slot.run.phase) {
    case RunPhase::opening:
      return step_while_opening(slot, now);
    case RunPhase::draining:
      if (traffic.first && !traffic.last && no_flows(slot.run)) traffic.last = now;
      return step_while_draining(slot, now);
    case RunPhase::closing:
    case RunPhase::closed:
      return RunStep::finish;
  }
  return RunStep::carry_on;
}

}  // namespace engine
