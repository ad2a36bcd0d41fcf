// The plain way of a received segment: see plain.h.

#include <cassert>

#include "tcp/internal.h"
#include "tcp/plain.h"

namespace engine::tcp {

namespace {

/// `acked` new bytes, in a segment with `length` bytes of payload. Returns what take_new_ack would.
[[gnu::always_inline]] inline Events take_plain_ack(Context& context, CounterBlock& counters,
                                                    Flow& flow, uint32_t acknowledgment,
                                                    uint32_t acked, uint32_t length) {
  if (length == 0) ++counters[Counter::tcps_predack];
  ++counters[Counter::tcps_rcvackpack];
  counters[Counter::tcps_rcvackbyte] += acked;
  take_rtt(context, counters, flow, acknowledgment);
  if (uses_window(flow)) grow_window(context, flow, acked);
  flow.snd_una = acknowledgment;
  if (acknowledgment == flow.snd_max)
    stop_retransmit_timer(context, flow);
  else
    start_plain_retransmit_timer(context, flow);  // RFC 6298 (5.3)
  if (!flow.has(kFinQueued) || acknowledgment != flow.snd_end + 1) return kAcknowledged;

  --counters[Counter::tcps_rcvackbyte];
  ++counters[Counter::tcps_rcvackbyte_of];
  return kAcknowledged | take_ack_of_fin(context, flow);
}

}  // namespace

// In sequence, with no gap before it, a segment is never older than the one before: of the
// conditions for its time stamp (RFC 7323 section 4.3) and its window (RFC 9293 section 3.10.7.4)
// one comparison each is left.
template <bool kStamped>
Events receive_plain(Context& context, FlowClass& shared, Flow& flow, const PlainSegment& segment) {
  assert(flow.snd_nxt == flow.snd_max && !persists(flow) &&
         (flow.retransmissions | flow.duplicate_acks | flow.probes) == 0);
  const uint8_t* const header = segment.header;
  const uint32_t length = segment.length;
  const uint32_t span = length + (header[13] & kFin);
  const auto acknowledgment = load_be<uint32_t>(header + 8);
  const uint32_t acked = acknowledgment - flow.snd_una;
  const uint32_t timestamp = kStamped ? load_be<uint32_t>(header + kFixedHeader + 4) : 0;
  if (load_be<uint32_t>(header + 4) != flow.rcv_nxt || length > shared.tunables->receive_buffer ||
      (kStamped && before(timestamp, flow.ts_recent)) || acked > flow.snd_max - flow.snd_una)
      [[unlikely]]
    return kNotPlain;
  if (acked == 0) {
    if (span == 0 || flow.state == FlowState::syn_received) [[unlikely]]
      return kNotPlain;
  }
  if (span != 0 && flow.has(kPeerFin)) [[unlikely]]
    return kNotPlain;

  CounterBlock& counters = *shared.counters;
  ++counters[Counter::tcps_rcvtotal];
  if (kStamped && flow.rcv_nxt == flow.last_ack_sent) flow.ts_recent = timestamp;
  const uint32_t window = uint32_t{load_be<uint16_t>(header + 14)} << flow.send_scale();
  Events events;
  if (flow.state != FlowState::syn_received) [[likely]] {
    context.wheel.postpone(flow, TimerKind::keep, context.tick, shared.keep_idle);
    if (acked != 0) {
      events = take_plain_ack(context, counters, flow, acknowledgment, acked, length);
      if ((events & kGone) != 0) return events;
    } else {
      events = kNothing;
      ++counters[Counter::tcps_preddat];
      if (length == 0 && flow.snd_wl2 == acknowledgment && window > flow.snd_wnd &&
          !after(flow.snd_wl1, flow.rcv_nxt))
        ++counters[Counter::tcps_rcvwinupd];
    }
  } else {
    events = take_handshake_ack(context, shared, flow, flow.rcv_nxt, acknowledgment);
    if (span != 0) ++counters[Counter::tcps_preddat];
  }
  if (!after(flow.snd_wl1, flow.rcv_nxt)) {
    flow.snd_wnd = window;
    flow.snd_wl1 = flow.rcv_nxt;
    flow.snd_wl2 = acknowledgment;
  }
  if (span == 0) return events;
  if (length != 0) {
    ++counters[Counter::tcps_rcvpack];
    counters[Counter::tcps_rcvbyte] += length;
    flow.rcv_nxt += length;
    flow.rx_available += length;
    events |= kDelivered;
    if ((header[13] & kPsh) != 0)
      flow.set(kAckNow);
    else
      acknowledge_in_time(context, flow, length);
  }
  if (span != length) events |= take_fin(context, flow);
  return events;
}

template Events receive_plain<true>(Context&, FlowClass&, Flow&, const PlainSegment&);
template Events receive_plain<false>(Context&, FlowClass&, Flow&, const PlainSegment&);

}  // namespace engine::tcp
