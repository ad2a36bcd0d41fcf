// TIME_WAIT, RFC 9293 section 3.6.1: as a flow, and as the record that most connections need.

#include <bit>

#include "tcp/internal.h"

namespace engine::tcp {

namespace {

constexpr Tick kTimeWaitTicks =
    static_cast<Tick>((kTimeWait + (1 << kTickShift) - 1) >> kTickShift);

/// What TimeWait::options keeps of a flow's flags: five that stand together, from this bit on.
constexpr uint32_t kKept = kTimestamps | kSack | kScaling | kEcn | kEcnEcho;
constexpr unsigned kKeptFrom = std::countr_zero(kKept);
static_assert(kKept >> kKeptFrom <= UINT8_MAX);
/// Flags of every connection in TIME_WAIT, whose flow is made anew.
constexpr uint32_t kAlways = kFinQueued | kPeerFin | kEverEstablished;

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
  const auto [record, number] = context.waits.add(context.tick + kTimeWaitTicks);
  if (record == nullptr) return TimeWaits::kNone;
  TimeWait& wait = *record;
  static_cast<FlowIdentity&>(wait) = flow;
  wait.flow_class = flow.flow_class;
  wait.snd_nxt = flow.snd_nxt;
  wait.rcv_nxt = flow.rcv_nxt;
  wait.ts_recent = flow.ts_recent;
  wait.window = static_cast<uint16_t>(flow.snd_wnd >> flow.send_scale());
  wait.l2_header = flow.l2_header;
  wait.scales = flow.scales;
  wait.options = static_cast<uint8_t>((flow.flags & kKept) >> kKeptFrom);
  return number;
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
  const TimeWait& wait = context.waits[record];
  const FlowClass& template_side = *context.classes[wait.flow_class];
  static_cast<FlowIdentity&>(flow) = wait;
  flow.flow_class = wait.flow_class;
  flow.state = FlowState::time_wait;
  flow.wait = Wait::ended;
  flow.retransmit_purpose = RetransmitPurpose::time_wait_end;
  flow.flags = kAlways | uint32_t{template_side.side == Side::server ? kServerSide : kPortOwned} |
               (flow.ipv6() ? uint32_t{kIpv6} : 0) | uint32_t{wait.options} << kKeptFrom;
  flow.snd_una = flow.snd_nxt = flow.snd_max = wait.snd_nxt;
  flow.snd_end = wait.snd_nxt - 1;  // the FIN is behind it
  flow.snd_wl1 = wait.rcv_nxt - 1;
  flow.snd_wl2 = wait.snd_nxt;
  flow.rcv_nxt = flow.last_ack_sent = wait.rcv_nxt;
  flow.ts_recent = wait.ts_recent;
  flow.scales = wait.scales;
  flow.snd_wnd = uint32_t{wait.window} << flow.send_scale();
  flow.l2_header = wait.l2_header;
  // Nothing more is sent, so what congestion control had learned is not needed.
  flow.mss = template_side.tunables->mss;
  flow.cwnd = flow.ssthresh = flow.mss;
  flow.recover = flow.rtt_sequence = wait.snd_nxt;
  flow.rtt_tick = context.tick;
  flow.srtt_us = flow.rttvar_us = 0;
  flow.duplicate_acks = flow.retransmissions = flow.probes = 0;
  flow.tx_buffer = flow.extension = flow.variables = Flow::kNone;
  flow.tx_base = flow.snd_end;
  flow.rx_available = 0;
  flow.program_counter = 0;
  flow.armed = 0;
  flow.timer_slot = TimerWheel::kNowhere;
  context.wheel.arm(flow, TimerKind::retransmit, context.waits.end_of(record), 0);
}

}  // namespace engine::tcp
