#pragma once
// Segments onto frames. One source has two forms, as in input.cpp: the fast one is for flows that
// may take the fast path, and leaves out what cannot hold of these.

#include "tcp/headers.h"
#include "tcp/internal.h"

namespace engine::tcp {

/// The buffer that holds `sequence` and where it begins.
QueuedBuffer buffer_at(Context& context, const Flow& flow, uint32_t sequence);
/// Writes the headers and options of any segment but a SYN; the frame's payload is set. Returns
/// whether an ACK with SACK blocks is still owed: beside payload there is no room for them.
bool write_any_segment(Context& context, const FlowClass& template_side, Flow& flow, Frame& frame,
                       uint32_t sequence, uint32_t flags);
/// Completes the checksums of a segment of `flow`, for a device that does not.
void complete_checksums_of(Context& context, const FlowClass& template_side, const Flow& flow,
                           Frame& frame);

/// Sends any segment but a SYN, with `length` bytes of payload from `sequence` on; in the fast form
/// with ACK. False: there was no frame buffer, which is counted (tcps_nombuf).
template <bool kFast>
[[gnu::always_inline]] inline bool emit(Context& context, const FlowClass& template_side,
                                        CounterBlock& counters, Flow& flow, uint32_t sequence,
                                        uint32_t length, uint32_t flags) {
  TransmitQueue& queue = *template_side.transmit;
  Frame* const frame = queue.next_as_it_is();
  if (frame == nullptr) [[unlikely]] {
    ++counters[Counter::tcps_nombuf];
    return false;
  }
  frame->payload = nullptr;
  if (length != 0) {
    const QueuedBuffer queued =
        kFast ? QueuedBuffer{flow.tx_buffer, flow.tx_base} : buffer_at(context, flow, sequence);
    frame->payload = (*template_side.buffers)[queued.buffer].at(sequence - queued.base, length);
  }
  frame->payload_length = length;
  const L2Header* const l2 = template_side.l2_headers->untagged(flow.l2_header);
  const uint32_t form = flow.flags & (kTimestamps | kScaling | kIpv6);
  bool owes_ack = false;
  if (kFast && form == (kTimestamps | kScaling) && l2 != nullptr) [[likely]] {
    constexpr uint32_t kStamped = kFixedHeader + kTimestampsLength;
    write_timestamps(
        context, flow,
        write_ipv4_headers(template_side, flow, *l2, *frame,
                           {sequence, flow.rcv_nxt, kStamped, flags, template_side.windows[1]},
                           length, 0));
  } else if (kFast && form == 0 && l2 != nullptr) {
    write_ipv4_headers(template_side, flow, *l2, *frame,
                       {sequence, flow.rcv_nxt, kFixedHeader, flags, template_side.windows[0]},
                       length, 0);
  } else {
    owes_ack = write_any_segment(context, template_side, flow, *frame, sequence, flags);
  }
  if (!queue.offloads().checksum) complete_checksums_of(context, template_side, flow, *frame);
  if (kFast || !owes_ack) flow.clear(kAckNow);
  commit(context, counters, flow, queue);
  return true;
}

/// Sends `length` bytes from `sequence` on, all in one buffer, with FIN where `fin` is 1. In the
/// fast form they are all that is queued, and snd_nxt moves behind them. False: as for emit.
template <bool kFast>
[[gnu::always_inline]] inline bool emit_data(Context& context, const FlowClass& template_side,
                                             CounterBlock& counters, Flow& flow, uint32_t sequence,
                                             uint32_t length, uint32_t fin) {
  static_assert(kFin == 1);
  uint32_t flags = kAck | fin;
  if (length != 0 &&
      (kFast || sequence + length == flow.snd_end || template_side.tunables->push_always))
    flags |= kPsh;
  if (!emit<kFast>(context, template_side, counters, flow, sequence, length, flags)) [[unlikely]]
    return false;

  const bool first_in_flight = flow.snd_una == flow.snd_max;
  const uint32_t end = kFast ? flow.snd_end : sequence + length;
  if (length == 0) {
    ++counters[Counter::tcps_sndctrl];
  } else if (!kFast && before(sequence, flow.snd_max)) {
    ++counters[Counter::tcps_sndrexmitpack];
    counters[Counter::tcps_sndrexmitbyte] += length;
    if (flow.has(kRttTiming) && before(sequence, flow.rtt_sequence))
      flow.clear(kRttTiming);  // Karn
    if (after(end, flow.snd_max)) counters[Counter::tcps_sndbyte_ok] += end - flow.snd_max;
  } else {
    count_sent(context, counters, flow, end, length);
  }
  if constexpr (kFast)
    flow.snd_nxt = flow.snd_max = end + fin;
  else if (after(end + fin, flow.snd_max))
    flow.snd_max = end + fin;
  // Before anything was in flight the timer ran, if it did, to try again (tx_retry).
  if (first_in_flight || !TimerWheel::is_armed(flow, TimerKind::retransmit) ||
      (!kFast && persists(flow)))
    (kFast ? start_retransmit_timer_fast : start_retransmit_timer)(context, flow);
  return true;
}

}  // namespace engine::tcp
