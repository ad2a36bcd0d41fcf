// What may be sent now (RFC 9293 section 3.8), and what expiring timers bring about.

#include <algorithm>

#include "tcp/emit.h"

namespace engine::tcp {

namespace {

/// Bytes of new or resent data that congestion control allows beyond snd_nxt.
uint32_t congestion_allowance(Context& context, Flow& flow) {
  if (flow.has(kFastRecovery) && flow.has(kSack)) return transmit_in_recovery(context, flow);
  uint32_t limit = flow.cwnd;
  // Limited transmit, RFC 3042: a new segment for each of the first two duplicate ACKs.
  if (!flow.has(kFastRecovery) && flow.duplicate_acks != 0)
    limit += std::min<uint32_t>(flow.duplicate_acks, 2) * flow.mss;
  const uint32_t flight = flow.snd_nxt - flow.snd_una;
  return limit > flight ? limit - flight : 0;
}

bool fin_is_next(const Flow& flow, uint32_t sequence) {
  return flow.has(kFinQueued) && sequence == flow.snd_end;
}

void drop_established(Context& context, Flow& flow, Counter why) {
  CounterBlock& counters = *context.class_of(flow).counters;
  ++counters[why];
  ++counters[Counter::tcps_drops];
  emit_control(context, flow, empty_sequence(flow), kRst | kAck);
}

Events expire_handshake(Context& context, Flow& flow) {
  if (flow.snd_max != flow.snd_una) {  // else the first one has not left yet
    CounterBlock& counters = *context.class_of(flow).counters;
    ++counters[Counter::tcps_rexmttimeo];
    ++counters[Counter::tcps_rexmttimeo_syn];
    if (++flow.retransmissions > kMaxRetransmissions) {
      ++counters[Counter::tcps_timeoutdrop];
      ++counters[Counter::tcps_conndrops];
      return kGone;
    }
  }
  emit_syn(context, flow);
  return kNothing;
}

Events expire_persist(Context& context, Flow& flow) {
  CounterBlock& counters = *context.class_of(flow).counters;
  ++counters[Counter::tcps_persisttimeo];
  if (++flow.probes > kMaxProbes) {
    drop_established(context, flow, Counter::tcps_persistdrop);
    return kGone;
  }
  if (flow.retransmissions < UINT8_MAX) ++flow.retransmissions;
  // RFC 9293 section 3.8.6.1: one byte beyond the window. There is one: a FIN alone needs none.
  // SND.NXT stays: with another number than RCV.NXT no ACK is taken at RCV.WND 0 (3.10.7.4).
  ++counters[Counter::tcps_sndprobe];
  emit_data(context, flow, flow.snd_una, 1, fin_is_next(flow, flow.snd_una + 1));
  start_persist_timer(context, flow);
  return kNothing;
}

Events expire_timeout(Context& context, Flow& flow) {
  CounterBlock& counters = *context.class_of(flow).counters;
  ++counters[Counter::tcps_rexmttimeo];
  if (++flow.retransmissions > kMaxRetransmissions) {
    drop_established(context, flow, Counter::tcps_timeoutdrop);
    return kGone;
  }
  on_retransmission_timeout(context, flow);
  return kNothing;
}

Events expire_retransmit(Context& context, Flow& flow) {
  switch (flow.retransmit_purpose) {
    case RetransmitPurpose::handshake:
      return expire_handshake(context, flow);
    case RetransmitPurpose::timeout:
      return expire_timeout(context, flow);
    case RetransmitPurpose::probe:
      if (!expire_probe(context, flow)) start_timeout(context, flow, probe_timeout(flow));
      break;
    case RetransmitPurpose::persist:
      return expire_persist(context, flow);
    case RetransmitPurpose::send:
      if (flow.state < FlowState::established)
        emit_syn(context, flow);
      else if (flow.snd_una != flow.snd_max)
        start_retransmit_timer(context, flow);
      break;
    case RetransmitPurpose::time_wait_end:  // it sends nothing: see expire
      break;
  }
  return kNothing;
}

Events give_up_handshake(Context& context, Flow& flow) {
  CounterBlock& counters = *context.class_of(flow).counters;
  ++counters[Counter::tcps_keeptimeo];
  ++counters[Counter::tcps_keepdrops];
  ++counters[Counter::tcps_conndrops];
  return kGone;
}

Events expire_keep(Context& context, Flow& flow) {
  CounterBlock& counters = *context.class_of(flow).counters;
  const Tunables& tunables = *context.class_of(flow).tunables;
  ++counters[Counter::tcps_keeptimeo];
  if (flow.snd_una == flow.snd_max) {
    if (++flow.probes > kMaxProbes) {
      drop_established(context, flow, Counter::tcps_keepdrops);
      return kGone;
    }
    ++counters[Counter::tcps_keepprobe];
    emit_control(context, flow, flow.snd_una - 1, kAck);
  }
  context.wheel.arm(flow, TimerKind::idle, context.tick,
                    ticks_for(tunables.keep_interval_s * kSecond));
  return kNothing;
}

}  // namespace

void queue_behind(Context& context, Flow& flow, uint32_t buffer) {
  context.extend(flow).queue.push_back({buffer, flow.snd_end});
}

void finish(Flow& flow) {
  if (flow.has(kFinQueued)) return;
  switch (flow.state) {
    case FlowState::syn_received:
    case FlowState::established:
      flow.state = FlowState::fin_wait_1;
      break;
    case FlowState::close_wait:
      flow.state = FlowState::last_ack;
      break;
    default:
      return;
  }
  flow.set(kFinQueued);
}

bool abort(Context& context, Flow& flow) {
  if (flow.state == FlowState::syn_sent || flow.state == FlowState::time_wait) return true;
  return emit_control(context, flow, empty_sequence(flow), kRst | kAck);
}

namespace {

void transmit_queued(Context& context, Flow& flow) {
  if (flow.has(kResendFirst) && !resend_first(context, flow)) {
    tx_retry(context, flow, TimerKind::retransmit);
    return;
  }
  if (flow.snd_una == flow.snd_max) restart_after_idle(context, flow);
  uint32_t allowance = congestion_allowance(context, flow);
  while (before(flow.snd_nxt, queued_end(flow))) {
    const uint32_t missing = flow.has(kGoingBack) ? skip_reported(context, flow) : UINT32_MAX;
    const uint32_t sequence = flow.snd_nxt;
    const uint32_t left = before(sequence, flow.snd_end) ? flow.snd_end - sequence : 0;
    const uint32_t flight = sequence - flow.snd_una;
    const uint32_t window = flow.snd_wnd > flight ? flow.snd_wnd - flight : 0;
    uint32_t length = std::min({left, allowance, window, missing});
    if (length != 0) length = segment_length(context, flow, sequence, length);
    const bool fin = length == left && fin_is_next(flow, sequence + length);
    if (length == 0 && !fin) {
      // A closed window and nothing in flight that would open it: ask again (persist).
      if (left != 0 && window == 0 && flight == 0 && !persists(flow))
        start_persist_timer(context, flow);
      return;
    }
    const bool resending = before(sequence, flow.snd_max);
    if (length < flow.mss && !resending && flight != 0) {
      // Sender's silly window avoidance, RFC 9293 section 3.8.6.2.1: less than a segment only at
      // the end of a buffer, or when nothing in flight would bring a larger window.
      if (length < left && length >= std::min(allowance, window)) return;
      // Nagle, RFC 9293 section 3.7.4: one small segment in flight.
      if (length == left && !fin && context.class_of(flow).tunables->nagle) return;
    }
    if (length > flow.mss && length < left) length = length / flow.mss * flow.mss;
    if (!emit_data(context, flow, sequence, length, fin)) {
      tx_retry(context, flow, TimerKind::retransmit);
      return;
    }
    flow.snd_nxt = sequence + length + (fin ? 1 : 0);
    allowance -= length;
  }
}

}  // namespace

namespace {

/// Whether `length` bytes and perhaps a FIN, all that is queued, may leave in one segment now, with
/// `flight` bytes before them. No window or silly window holds them back, and the window does not
/// start again because nothing was sent for long (restart_after_idle).
[[gnu::always_inline]] inline bool fits_one_segment(const Context& context,
                                                    const FlowClass& template_side,
                                                    const Flow& flow, uint32_t length,
                                                    uint32_t flight) {
  if (length > flow.mss || flight + length > flow.cwnd || flight + length > flow.snd_wnd)
    return false;
  if (flight == 0)
    return context.tick - flow.rtt_tick <= ticks_for(kMinRto) ||
           flow.cwnd <= initial_window(template_side, flow);
  return length == flow.mss || flow.has(kFinQueued) || !template_side.tunables->nagle;
}

/// There was no frame buffer for what is queued (`sends`), or for an ACK.
[[gnu::noinline]] void on_no_mbuf(Context& context, Flow& flow, bool sends) {
  tx_retry(context, flow, sends ? TimerKind::retransmit : TimerKind::delayed_ack);
  if (sends && flow.has(kAckNow) && !emit_control(context, flow, empty_sequence(flow), kAck))
    tx_retry(context, flow, TimerKind::delayed_ack);
}

/// The fast path: sends all that is queued in one segment, or an ACK that is owed. False: nothing
/// was done.
[[gnu::always_inline]] inline bool transmit_fast(Context& context, FlowClass& template_side,
                                                 Flow& flow) {
  CounterBlock& counters = *template_side.counters;
  static_assert(uint32_t{kFinQueued} == kFin && kFin == 1);
  const uint32_t fin = flow.flags & kFinQueued;
  const uint32_t length = flow.snd_end - flow.snd_nxt;  // -1: the FIN has left, too
  if (static_cast<int32_t>(length + fin) > 0) {
    const uint32_t flight = flow.snd_nxt - flow.snd_una;
    if (!fits_one_segment(context, template_side, flow, length, flight)) return false;
    const bool sent =
        length != 0
            ? emit_data<true>(context, template_side, counters, flow, flow.snd_nxt, length, fin)
            : emit_data<true>(context, template_side, counters, flow, flow.snd_nxt, 0, fin);
    if (!sent) [[unlikely]]
      on_no_mbuf(context, flow, true);
  } else if (flow.has(kAckNow)) {
    if (flow.snd_nxt - flow.snd_una > flow.snd_wnd) [[unlikely]]
      return false;  // see empty_sequence
    if (emit<true>(context, template_side, counters, flow, flow.snd_nxt, 0, kAck)) [[likely]]
      ++counters[Counter::tcps_sndacks];
    else
      on_no_mbuf(context, flow, false);
  }
  return true;
}

}  // namespace

void transmit(Context& context, FlowClass& template_side, Flow& flow) {
  if (!flow.has(kFastPath) || !transmit_fast(context, template_side, flow)) [[unlikely]]
    transmit_slow_path(context, flow);
}

[[gnu::noinline]] void transmit_slow_path(Context& context, Flow& flow) {
  if (may_send_data(flow) && (before(flow.snd_nxt, queued_end(flow)) || flow.has(kFastRecovery)))
    transmit_queued(context, flow);
  if (flow.has(kAckNow) && !emit_control(context, flow, empty_sequence(flow), kAck))
    tx_retry(context, flow, TimerKind::delayed_ack);
  update_fast_path_flag(context.class_of(flow), flow);
}

Events expire(Context& context, Flow& flow, TimerKind kind) {
  const bool time_wait_ends =
      kind == TimerKind::retransmit && flow.retransmit_purpose == RetransmitPurpose::time_wait_end;
  if (time_wait_ends) return kGone;
  if (kind == TimerKind::idle && flow.state < FlowState::established)
    return give_up_handshake(context, flow);
  // Everything else sends. What could not leave was no try: nothing is counted, and nothing backs
  // off.
  if (!has_mbuf(context, flow)) {
    tx_retry(context, flow, kind);
    return kNothing;
  }
  switch (kind) {
    case TimerKind::delayed_ack:
      ++(*context.class_of(flow).counters)[Counter::tcps_delack];
      flow.set(kAckNow);
      break;
    case TimerKind::idle:
      return expire_keep(context, flow);
    case TimerKind::retransmit:
      return expire_retransmit(context, flow);
    case TimerKind::program:
      break;
  }
  return kNothing;
}

}  // namespace engine::tcp
