// Round-trip times, timers, and the state changes that set them.

#include <algorithm>

#include "tcp/internal.h"

namespace engine::tcp {

namespace {

/// RFC 6298 (5.5): doubled with each time that nothing was heard, up to `most`. No base is so short
/// that it would take kDoublings to get there.
Nanoseconds back_off(Nanoseconds base, unsigned times, Nanoseconds most) {
  constexpr unsigned kDoublings = 8;
  return std::min(base << std::min(times, kDoublings), most);
}

}  // namespace

Nanoseconds retransmission_timeout(const Flow& flow) {
  Nanoseconds timeout = kInitialRto;
  if (flow.srtt_us != 0) {
    const Nanoseconds variation = std::max<Nanoseconds>(4 * Nanoseconds{flow.rttvar_us}, 20);
    timeout = std::max((flow.srtt_us + variation) * kMicrosecond, kMinRto);
  }
  return back_off(timeout, flow.retransmissions, kMaxRto);
}

void start_timeout(Context& context, Flow& flow, Nanoseconds waited) {
  flow.retransmit_purpose = RetransmitPurpose::timeout;
  context.wheel.arm(flow, TimerKind::retransmit, context.tick,
                    ticks_for(retransmission_timeout(flow) - waited));
}

void start_retransmit_timer(Context& context, Flow& flow) {
  Nanoseconds early = 0;
  if (has_open_hole(context, flow))
    early = reordering_window(flow);
  else if (may_probe(flow))
    early = probe_timeout(flow);
  // No timeout is below kMinRto: most flows need not know theirs.
  if (early == 0 || (early >= kMinRto && early >= retransmission_timeout(flow))) {
    start_timeout(context, flow, 0);
    return;
  }
  flow.retransmit_purpose = RetransmitPurpose::probe;
  context.wheel.arm(flow, TimerKind::retransmit, context.tick, ticks_for(early));
}

void start_persist_timer(Context& context, Flow& flow) {
  flow.retransmit_purpose = RetransmitPurpose::persist;
  const Nanoseconds base =
      std::max(flow.srtt_us == 0
                   ? kInitialRto
                   : (Nanoseconds{flow.srtt_us} + 4 * Nanoseconds{flow.rttvar_us}) * kMicrosecond,
               kMinPersist);
  const Nanoseconds timeout = back_off(base, flow.retransmissions, kMaxPersist);
  context.wheel.arm(flow, TimerKind::retransmit, context.tick, ticks_for(timeout));
}

void tx_retry(Context& context, Flow& flow, TimerKind kind) {
  constexpr Tick kSoon = ticks_for(kNoFrameRetry);
  if (TimerWheel::is_armed(flow, kind)) {
    const Tick due = flow.deadlines[static_cast<size_t>(kind)];
    if (!tick_before(context.tick + kSoon, due)) return;
    if (kind == TimerKind::retransmit) flow.retransmit_purpose = RetransmitPurpose::send;
  }
  context.wheel.arm(flow, kind, context.tick, kSoon);
}

}  // namespace engine::tcp
