// TIME_WAIT, RFC 9293 section 3.6.1: as a flow, and as the record that most connections need.

#include "tcp/internal.h"

namespace engine::tcp {

namespace {

constexpr Tick kTimeWaitTicks =
    static_cast<Tick>((kTimeWait + (1 << kTickShift) - 1) >> kTickShift);

/// Flags of a connection in TIME_WAIT whose flow is made anew.
constexpr uint32_t kKept = kFinQueued | kPeerFin | kEverEstablished | kTimestamps | kSack |
                           kScaling | kEcn | kEcnEcho | kServerSide | kPortOwned | kIpv6;

}  // namespace

void enter_time_wait(Context& context, Flow& flow) {
  flow.state = FlowState::time_wait;
  flow.retransmit_purpose = RetransmitPurpose::time_wait_end;
  context.wheel.remove(flow);
}

void wait_as_flow(Context& context, Flow& flow) {
  flow.clear(kFastPath);
  context.wheel.arm(flow, TimerKind::retransmit, context.tick, kTimeWaitTicks);
}

uint32_t wait_as_record(Context& context, const Flow& flow) {
  // An ACK that found no frame buffer is still to be sent, by the flow's timer.
  if (flow.has(kAckNow)) return TimeWaits::kNone;
  return context.waits.add(flow, context.tick + kTimeWaitTicks);
}

// A client has no listener that could open it.
bool gives_way(Context& context, const Flow& flow, const RxSegment& syn) {
  if (!flow.has(kServerSide) || syn.is(kAck) || syn.is(kRst)) return false;
  if ((context.class_of(flow).offers & syn.options.offered & kOffersTimestamps) != 0) {
    if (!flow.has(kTimestamps)) return true;
    const uint32_t time = syn.timestamp();
    if (time != flow.ts_recent) return after(time, flow.ts_recent);
  }
  return !before(syn.sequence(), flow.rcv_nxt);
}

void restore(Context& context, uint32_t record, Flow& flow) {
  flow = Flow{};
  static_cast<FlowHead&>(flow) = context.waits[record];
  flow.wait = Wait::ended;
  flow.retransmit_purpose = RetransmitPurpose::time_wait_end;
  flow.flags &= kKept;
  flow.duplicate_acks = 0;
  flow.snd_una = flow.snd_max = flow.snd_nxt;
  flow.snd_end = flow.tx_base = flow.snd_nxt - 1;  // the FIN is behind it
  flow.snd_wl1 = flow.rcv_nxt - 1;
  flow.snd_wl2 = flow.snd_nxt;
  flow.last_ack_sent = flow.rcv_nxt;
  // Nothing more is sent, so what congestion control had learned is not needed.
  flow.mss = context.class_of(flow).tunables->mss;
  flow.cwnd = flow.ssthresh = flow.mss;
  flow.recover = flow.rtt_sequence = flow.snd_nxt;
  flow.rtt_tick = context.tick;
  flow.tx_buffer = flow.extension = flow.variables = Flow::kNone;
  flow.timer_slot = TimerWheel::kNowhere;
  context.wheel.arm(flow, TimerKind::retransmit, context.waits.end_of(record), 0);
}

}  // namespace engine::tcp
