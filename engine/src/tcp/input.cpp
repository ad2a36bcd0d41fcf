// Segment arrival: RFC 9293 section 3.10.7, RFC 5961 (blind attacks), RFC 7323 (PAWS).

#include <algorithm>
#include <cassert>

#include "tcp/internal.h"

namespace engine::tcp {

namespace {

// What stands below as `template <bool kFast>` is one source with two forms. The fast form is for
// flows and segments that `receive_fast` takes: it leaves out what cannot hold of these.

/// Goes on to the buffer that is sent from `acknowledgment` on.
void leave_acknowledged_buffers(Context& context, Flow& flow, uint32_t acknowledgment) {
  Extension* const extension = context.extension_of(flow);
  if (extension == nullptr) return;
  auto& queue = extension->queue;
  while (!queue.empty() && !after(queue.front().base, acknowledgment)) {
    flow.tx_buffer = queue.front().buffer;
    flow.tx_base = queue.front().base;
    queue.erase(queue.begin());
  }
}

/// Acknowledgment of new data, `acked` bytes, by a segment of which `length` bytes of payload are
/// taken. Returns events; kGone when the last ACK of a closing flow came.
template <bool kFast>
[[gnu::always_inline]] inline Events process_new_ack(Context& context, CounterBlock& counters,
                                                     Flow& flow, uint32_t acknowledgment,
                                                     uint32_t acked, uint32_t length) {
  if (length == 0) ++counters[Counter::tcps_predack];
  ++counters[Counter::tcps_rcvackpack];
  counters[Counter::tcps_rcvackbyte] += acked;
  update_rtt(context, counters, flow, acknowledgment);
  if constexpr (kFast) {
    if (uses_window(flow)) grow_window(context, flow, acked);
    flow.snd_una = acknowledgment;
  } else {
    on_new_ack(context, flow, acknowledgment);
    flow.snd_una = acknowledgment;
    if (before(flow.snd_nxt, acknowledgment)) flow.snd_nxt = acknowledgment;
    flow.retransmissions = 0;
    leave_acknowledged_buffers(context, flow, acknowledgment);
  }
  if (acknowledgment == flow.snd_max)
    stop_retransmit_timer(context, flow);
  else  // RFC 6298 (5.3)
    (kFast ? start_retransmit_timer_fast : start_retransmit_timer)(context, flow);
  if (!flow.has(kFinQueued) || acknowledgment != flow.snd_end + 1) return kAcknowledged;

  --counters[Counter::tcps_rcvackbyte];
  ++counters[Counter::tcps_rcvackbyte_of];
  return kAcknowledged | on_fin_acked(context, flow);
}

/// RFC 9293 section 3.10.7.4: the peer's window, by a segment that is not older than the last one:
/// one in sequence, with no gap before it, never is. `alone`: it brings nothing else.
template <bool kFast>
[[gnu::always_inline]] inline void update_window(CounterBlock& counters, Flow& flow,
                                                 uint32_t sequence, uint32_t acknowledgment,
                                                 uint32_t window, bool alone) {
  if (after(flow.snd_wl1, sequence)) return;
  if (!kFast && flow.snd_wl1 == sequence && after(flow.snd_wl2, acknowledgment)) return;
  if (alone && flow.snd_wl2 == acknowledgment && window > flow.snd_wnd)
    ++counters[Counter::tcps_rcvwinupd];
  flow.snd_wnd = window;
  flow.snd_wl1 = sequence;
  flow.snd_wl2 = acknowledgment;
}

/// RFC 9293 section 3.8.6.3, and ACK at once where a peer or a program waits for it.
[[gnu::always_inline]] inline void decide_on_ack(Context& context, Flow& flow, uint32_t length,
                                                 bool at_once) {
  if (at_once)
    flow.set(kAckNow);
  else
    acknowledge_in_time(context, flow, length);
}

/// Payload and FIN of a segment, trimmed to the window.
Events process_payload(Context& context, CounterBlock& counters, Flow& flow,
                       const RxSegment& segment, uint32_t sequence, uint32_t length, bool fin) {
  if (flow.has(kPeerFin)) {
    // Beyond the peer's FIN there is nothing.
    if (length != 0) ++counters[Counter::tcps_rcvafterclose];
    flow.set(kAckNow);
    return kNothing;
  }
  Events events = kNothing;
  if (length != 0) {
    const Extension* const held = context.extension_of(flow);
    const bool had_holes = held != nullptr && held->reassembling;
    events = reassemble(context, flow, sequence, length);
    const bool in_order = (events & kDelivered) != 0 && !had_holes;
    decide_on_ack(context, flow, segment.payload_length, !in_order || segment.is(kPsh));
  }
  if (fin && sequence + length != flow.rcv_nxt) {
    Extension& extension = context.extend(flow);
    extension.has_fin = true;
    extension.fin_sequence = sequence + length;
    flow.set(kAckNow);
    return events;
  }
  const Extension* extension = context.extension_of(flow);
  if (fin ||
      (extension != nullptr && extension->has_fin && extension->fin_sequence == flow.rcv_nxt))
    events |= process_fin(context, flow);
  return events;
}

/// Whether a segment that is not acceptable is answered. Answers have no payload: of such segments
/// few are answered (kAnswerInterval).
bool may_answer(const Context& context, Flow& flow, const RxSegment& segment) {
  if (segment.payload_length != 0 || (segment.flags() & (kSyn | kFin | kRst)) != 0) return true;
  const auto now = static_cast<uint16_t>(context.now / kAnswerInterval);
  if (flow.has(kAnswered) && flow.answered == now) return false;
  flow.set(kAnswered);
  flow.answered = now;
  return true;
}

/// The answer to a segment that is not acceptable (RFC 9293 section 3.10.7.4): an ACK tells the
/// peer where this end stands.
Events answer(const Context& context, Flow& flow, const RxSegment& segment) {
  if (may_answer(context, flow, segment)) flow.set(kAckNow);
  return kNothing;
}

/// A challenge ACK: the answer to what may be an attack (RFC 5961). It asks the peer to prove
/// itself, and all of them together have a limit (section 10).
Events challenge(Context& context, Flow& flow, const RxSegment& segment) {
  if (!may_answer(context, flow, segment)) return kNothing;
  if (context.tick - context.challenges_since >= ticks_for(kSecond)) {
    context.challenges_since = context.tick;
    context.challenges = 0;
  }
  if (++context.challenges <= kChallengesPerSecond) flow.set(kAckNow);
  return kNothing;
}

}  // namespace

void acknowledge_in_time(Context& context, Flow& flow, uint32_t length) {
  const Tunables& tunables = *context.class_of(flow).tunables;
  const uint32_t owed = flow.rcv_nxt - flow.last_ack_sent;
  if (length > tunables.mss || owed >= 2u * flow.mss ||
      (tunables.ack_bytes != 0 && owed >= tunables.ack_bytes)) {
    flow.set(kAckNow);
  } else if (!flow.has(kAckNow) && !TimerWheel::is_armed(flow, TimerKind::delayed_ack)) {
    context.wheel.arm(flow, TimerKind::delayed_ack, context.tick,
                      ticks_for(tunables.delayed_ack_ms * kMillisecond));
  }
}

Events process_fin(Context& context, Flow& flow) {
  ++flow.rcv_nxt;
  flow.set(kPeerFin);
  flow.set(kAckNow);
  switch (flow.state) {
    case FlowState::established:
      flow.state = FlowState::close_wait;
      break;
    case FlowState::fin_wait_1:
      flow.state = FlowState::closing;  // simultaneous close: our FIN is not acknowledged yet
      break;
    case FlowState::fin_wait_2:
      enter_time_wait(context, flow);
      break;
    default:
      break;
  }
  return kPeerClosed;
}

Events on_fin_acked(Context& context, Flow& flow) {
  if (flow.state == FlowState::last_ack) return kGone;
  if (flow.state == FlowState::fin_wait_1)
    flow.state = FlowState::fin_wait_2;
  else if (flow.state == FlowState::closing)
    enter_time_wait(context, flow);
  return kNothing;
}

namespace {

/// A segment for a flow in any state but syn_sent. A function by itself, as the one for syn_sent
/// needs fewer registers.
[[gnu::noinline]] Events process_segment(Context& context, FlowClass& template_side, Flow& flow,
                                         const RxSegment& segment) {
  CounterBlock& counters = *template_side.counters;
  const uint32_t window = template_side.tunables->receive_buffer;
  const bool timestamps = segment.has_timestamps() && flow.has(kTimestamps);
  // PAWS, RFC 7323 section 5.3.
  if (timestamps && before(segment.timestamp(), flow.ts_recent) && !segment.is(kRst)) [[unlikely]] {
    ++counters[Counter::tcps_pawsdrop];
    return segment.is(kSyn) ? challenge(context, flow, segment) : answer(context, flow, segment);
  }
  if ((segment.flags() & (kRst | kSyn | kAck)) != kAck) [[unlikely]] {
    if (segment.is(kRst)) {
      // A late segment that met no flow on the other side; TIME_WAIT outlives it (RFC 1337 section
      // 3).
      if (flow.state == FlowState::time_wait) return kNothing;
      // RFC 5961 section 3.2: only the exact next number resets.
      if (segment.sequence() == flow.rcv_nxt) {
        if (flow.state == FlowState::syn_received)
          ++counters[Counter::tcps_conndrops];
        else if (flow.state != FlowState::closing && flow.state != FlowState::last_ack)
          ++counters[Counter::tcps_drops];  // after both FINs nothing is lost
        return kGone;
      }
      return segment.sequence() - flow.rcv_nxt < window ? challenge(context, flow, segment)
                                                        : kNothing;
    }
    if (segment.is(kSyn)) {
      // RFC 5961 section 4.2; of a handshake, another SYN than the one that was taken.
      if (flow.state != FlowState::syn_received || segment.sequence() + 1 != flow.rcv_nxt)
        return challenge(context, flow, segment);
      if (!segment.is(kAck)) {
        flow.retransmissions = std::max<uint8_t>(flow.retransmissions, 1);
        emit_syn(context, flow);  // our SYN-ACK was lost
        return kNothing;
      }
    }
    if (!segment.is(kAck)) return kNothing;
  }

  uint32_t sequence = segment.sequence();
  uint32_t length = segment.payload_length;
  bool fin = segment.is(kFin);
  if (segment.is(kSyn)) ++sequence;  // simultaneous open: the SYN was taken before
  if (sequence != flow.rcv_nxt || length > window) [[unlikely]] {
    // Trim what is old and what lies beyond the window.
    if (before(sequence, flow.rcv_nxt)) {
      const uint32_t old = flow.rcv_nxt - sequence;
      if (old >= length + (fin ? 1 : 0)) {
        if (length != 0) {
          ++counters[Counter::tcps_rcvduppack];
          counters[Counter::tcps_rcvdupbyte] += length;
        }
        if (segment.span() == 0) {
          answer(context, flow, segment);  // as to a keepalive probe
        } else {
          if (flow.state == FlowState::time_wait)  // RFC 9293: a retransmitted FIN restarts 2 MSL
            enter_time_wait(context, flow);
          flow.set(kAckNow);
        }
        length = 0;
        fin = false;
      } else {
        ++counters[Counter::tcps_rcvpartduppack];
        counters[Counter::tcps_rcvpartdupbyte] += old;
        length -= old;
      }
      sequence = flow.rcv_nxt;
    } else if (after(sequence + length, flow.rcv_nxt + window)) {
      const uint32_t excess = sequence + length - (flow.rcv_nxt + window);
      ++counters[Counter::tcps_rcvpackafterwin];
      counters[Counter::tcps_rcvbyteafterwin] += std::min(excess, length);
      if (excess >= length) return answer(context, flow, segment);
      flow.set(kAckNow);
      length -= excess;
      fin = false;
    }
  }
  if (timestamps && !after(segment.sequence(), flow.last_ack_sent))
    flow.ts_recent = segment.timestamp();
  flow.probes = 0;  // the peer is there
  if (TimerWheel::is_armed(flow, TimerKind::idle) && flow.state >= FlowState::established)
    start_keepalive(context, template_side, flow);

  Events events = kNothing;
  const uint32_t acknowledgment = segment.acknowledgment();
  if (flow.state == FlowState::syn_received) {
    if (!after(acknowledgment, flow.snd_una) || after(acknowledgment, flow.snd_max)) {
      emit_control(context, flow, acknowledgment, kRst);
      return kNothing;
    }
    events |= on_handshake_ack(context, template_side, flow, segment.sequence(), acknowledgment);
  }
  const bool of_flight = acknowledgment - flow.snd_una <= flow.snd_max - flow.snd_una;
  if (!of_flight) [[unlikely]] {
    if (after(acknowledgment, flow.snd_max)) {
      ++counters[Counter::tcps_rcvacktoomuch];
      return events | challenge(context, flow, segment);
    }
    // RFC 5961 section 5: older than the largest window that was ever open.
    if (before(acknowledgment, flow.snd_una - (uint32_t{UINT16_MAX} << flow.send_scale())))
      return events | challenge(context, flow, segment);
  }
  // Not scaled in a SYN, RFC 7323 section 2.2.
  const uint32_t peer_window = uint32_t{segment.window()}
                               << (segment.is(kSyn) ? 0 : flow.send_scale());
  if (flow.has(kEcn) || (segment.traffic_class & 3) != 0) {
    on_code_point(context, flow, segment);
    if (flow.has(kEcn) && segment.is(kEce)) on_congestion_echo(context, flow);
  }
  const bool news = segment.options.sack_count != 0 && flow.has(kSack) &&
                    update_scoreboard(context, flow, segment);
  const bool advanced = after(acknowledgment, flow.snd_una);
  if (advanced) {
    events |= process_new_ack<false>(context, counters, flow, acknowledgment,
                                     acknowledgment - flow.snd_una, length);
    if ((events & kGone) != 0) return events;
  } else if (acknowledgment == flow.snd_una && segment.payload_length == 0 && !segment.is(kFin) &&
             flow.snd_una != flow.snd_max && !(events & kEstablished) && !persists(flow)) {
    // RFC 5681 section 2: a duplicate ACK; with SACK, one that reports something (RFC 6675). The
    // answer to a probe of a closed window is none.
    const bool same_window = peer_window == flow.snd_wnd;
    if (news || (same_window && segment.options.sack_count == 0)) on_duplicate_ack(context, flow);
  }
  if (flow.has(kProbing)) on_ack_while_probing(context, flow, segment, advanced);
  update_window<false>(counters, flow, segment.sequence(), acknowledgment, peer_window,
                       segment.payload_length == 0);
  if (persists(flow) && flow.snd_wnd != 0) {
    flow.retransmissions = 0;
    stop_retransmit_timer(context, flow);
    if (flow.snd_una != flow.snd_max)
      start_retransmit_timer(context, flow);  // the probe's byte may have been refused
  }
  if (length != 0 || fin) {
    if (acknowledgment == flow.snd_una && !(events & kAcknowledged))
      ++counters[Counter::tcps_preddat];
    events |= process_payload(context, counters, flow, segment, sequence, length, fin);
  } else if (after(segment.sequence(), flow.rcv_nxt)) {
    answer(context, flow, segment);  // an ACK from beyond: something before it was lost
  }
  return events;
}

}  // namespace

// In sequence, with no gap before it, a segment is never older than the one before: of the
// conditions for its time stamp (RFC 7323 section 4.3) one comparison is left.
Events receive_fast(Context& context, FlowClass& template_side, Flow& flow,
                    const RxSegment& segment) {
  assert(flow.snd_nxt == flow.snd_max && !persists(flow) &&
         (flow.retransmissions | flow.duplicate_acks | flow.probes) == 0);
  const uint32_t length = segment.payload_length;
  const uint32_t flags = segment.flags();
  const uint32_t span = length + (flags & kFin);
  const uint32_t acknowledgment = segment.acknowledgment();
  const uint32_t acked = acknowledgment - flow.snd_una;
  if (segment.sequence() != flow.rcv_nxt || length > template_side.tunables->receive_buffer ||
      acked > flow.snd_max - flow.snd_una) [[unlikely]]
    return kNotFast;
  if (acked == 0) {
    if (span == 0 || flow.state == FlowState::syn_received) [[unlikely]]
      return kNotFast;
  }
  if (span != 0 && flow.has(kPeerFin)) [[unlikely]]
    return kNotFast;
  if (segment.fast == FastPath::stamped) [[likely]] {
    const uint32_t timestamp =
        load_be<uint32_t>(segment.header + kStampedHeaders.options.timestamps_at);
    if (before(timestamp, flow.ts_recent)) [[unlikely]]
      return kNotFast;
    if (flow.rcv_nxt == flow.last_ack_sent) flow.ts_recent = timestamp;
  }

  CounterBlock& counters = *template_side.counters;
  ++counters[Counter::tcps_rcvtotal];
  const uint32_t window = uint32_t{segment.window()} << flow.send_scale();
  Events events;
  if (flow.state != FlowState::syn_received) [[likely]] {
    context.wheel.arm<TimerWheel::Known::running>(flow, TimerKind::idle, context.tick,
                                                  template_side.keep_idle);
    if (acked != 0) {
      events = process_new_ack<true>(context, counters, flow, acknowledgment, acked, length);
      if ((events & kGone) != 0) return events;
      update_window<true>(counters, flow, flow.rcv_nxt, acknowledgment, window, false);
    } else {
      events = kNothing;
      ++counters[Counter::tcps_preddat];
      update_window<true>(counters, flow, flow.rcv_nxt, acknowledgment, window, length == 0);
    }
  } else {
    events = on_handshake_ack(context, template_side, flow, flow.rcv_nxt, acknowledgment);
    update_window<true>(counters, flow, flow.rcv_nxt, acknowledgment, window, false);
    if (span != 0) ++counters[Counter::tcps_preddat];
  }
  if (span == 0) return events;
  if (length != 0) {
    deliver(counters, flow, length);
    events |= kDelivered;
    decide_on_ack(context, flow, length, (flags & kPsh) != 0);
  }
  if (span != length) events |= process_fin(context, flow);
  return events;
}

Events receive_slow_path(Context& context, FlowClass& template_side, Flow& flow,
                         const RxSegment& segment) {
  ++(*template_side.counters)[Counter::tcps_rcvtotal];
  if (flow.state == FlowState::syn_sent)
    return receive_syn_sent(context, template_side, flow, segment);
  const Events events = process_segment(context, template_side, flow, segment);
  update_fast_path_flag(template_side, flow);
  return events;
}

}  // namespace engine::tcp
