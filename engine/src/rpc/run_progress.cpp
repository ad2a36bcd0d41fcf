#include "rpc/run_progress.h"

namespace engine {

namespace {

/// How long server flows may take to end by themselves once no client flow is open (seconds):
/// TIME_WAIT of the side that closed first, and a retransmission of the last segment.
constexpr double kServerGrace = 1.0;

bool no_flows(const RunStatus& run) {
  return run.client_flows + run.server_flows == 0;
}

bool drained(RunProgress& progress, double now) {
  if (progress.status.client_flows > 0) {
    progress.clients_done.reset();
    return false;
  }
  if (!progress.clients_done) progress.clients_done = now;
  return no_flows(progress.status) || now - *progress.clients_done >= kServerGrace;
}

RunStep step_while_opening(const RunProgress& progress, const StartOptions& options, double now) {
  const double elapsed = now - progress.started;
  const bool endless = options.duration_s <= 0;
  if (endless && options.drain_limit_s > 0 && elapsed >= options.drain_limit_s)
    return RunStep::finish;
  if (options.establish_limit_s > 0 && elapsed >= options.establish_limit_s &&
      progress.status.established == 0)
    return options.no_close ? RunStep::finish : RunStep::stop_opening;
  return RunStep::carry_on;
}

RunStep step_while_draining(RunProgress& progress, const StartOptions& options, double now) {
  if (!progress.draining) progress.draining = now;
  if (options.drain_limit_s > 0) {
    if (now - *progress.draining >= options.drain_limit_s) return RunStep::finish;
  } else if (options.no_close) {
    return RunStep::finish;
  }
  return drained(progress, now) ? RunStep::finish : RunStep::carry_on;
}

}  // namespace

RunStep next_step(RunProgress& progress, const StartOptions& options, TrafficTime& traffic,
                  double now) {
  const RunStatus& run = progress.status;
  if (!no_flows(run) || run.opened > 0) {
    if (!traffic.first) traffic.first = now;
    if (!no_flows(run)) traffic.last.reset();
  }
  switch (run.phase) {
    case RunPhase::opening:
      return step_while_opening(progress, options, now);
    case RunPhase::draining:
      if (traffic.first && !traffic.last && no_flows(run)) traffic.last = now;
      return step_while_draining(progress, options, now);
    case RunPhase::closing:
    case RunPhase::closed:
      return RunStep::finish;
  }
  return RunStep::carry_on;
}

}  // namespace engine
