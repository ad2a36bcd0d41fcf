// The plain way of an answer: see plain.h.

#include "tcp/internal.h"
#include "tcp/plain.h"
#include "tcp/plain_compose.h"

namespace engine::tcp {

namespace {

/// Whether `length` bytes and perhaps a FIN, all that is queued, may leave in one segment now, with
/// `flight` bytes before them. No window or silly window holds them back, and nothing was idle for
/// long.
bool fits_one_segment(const Context& context, const FlowClass& shared, const Flow& flow,
                      uint32_t length, uint32_t flight) {
  if (length > flow.mss || flight + length > flow.cwnd || flight + length > flow.snd_wnd)
    return false;
  if (flight == 0) return context.tick - flow.rtt_tick <= ticks_for(kMinRto);
  return length == flow.mss || flow.has(kFinQueued) || !shared.tunables->nagle;
}

/// After all that was queued has left in a segment of `length` bytes, `flight` bytes behind what is
/// acknowledged.
[[gnu::always_inline]] inline void follow_sent(Context& context, CounterBlock& counters, Flow& flow,
                                               uint32_t length, uint32_t flight) {
  if (length == 0) {
    ++counters[Counter::tcps_sndctrl];
  } else {
    ++counters[Counter::tcps_sndpack];
    counters[Counter::tcps_sndbyte_ok] += length;
    if (!flow.has(kRttTiming)) {
      flow.set(kRttTiming);
      flow.rtt_sequence = flow.snd_end;
      flow.rtt_tick = context.tick;
      ++counters[Counter::tcps_segstimed];
    }
  }
  flow.snd_nxt = flow.snd_max = queued_end(flow);
  if (flight == 0 || !TimerWheel::is_armed(flow, TimerKind::retransmit))
    start_plain_retransmit_timer(context, flow);
}

/// There was no frame buffer for what is queued (`sends`), or for an ACK.
[[gnu::noinline]] void lack_frame(Context& context, CounterBlock& counters, Flow& flow,
                                  bool sends) {
  ++counters[Counter::tcps_nombuf];
  send_later(context, flow, sends ? TimerKind::retransmit : TimerKind::delayed_ack);
  if (sends && flow.has(kAckNow) && !emit_control(context, flow, flow.snd_nxt, kAck))
    send_later(context, flow, TimerKind::delayed_ack);
}

/// Sends a segment of `length` bytes. False: there was no frame buffer.
[[gnu::always_inline]] inline bool send(Context& context, const FlowClass& shared, Flow& flow,
                                        const Path& path, uint32_t length, uint32_t flags) {
  TransmitQueue& queue = *context.transmit[index_of(shared.side)];
  Frame* const frame = queue.next_as_it_is();
  if (frame == nullptr) [[unlikely]]
    return false;
  uint8_t* const options = compose(shared, flow, path, *frame, kPlainHeader, flow.snd_nxt, length,
                                   flags, shared.windows[flow.has(kScaling)]);
  put_timestamps(context, flow, options);
  commit(context, shared, flow, queue, *frame);
  return true;
}

/// Sends all that is queued in one segment, or an ACK that is owed. False: nothing was done.
[[gnu::always_inline]] inline bool answer_plainly(Context& context, FlowClass& shared, Flow& flow) {
  const Path& path = context.paths[index_of(shared.side)][flow.path];
  if (flow.has(kExtended) || path.vlan != 0) return false;
  CounterBlock& counters = *shared.counters;
  const bool fin = flow.has(kFinQueued);
  const uint32_t length = flow.snd_end - flow.snd_nxt;  // -1: the FIN has left, too
  if (length == 0 ? fin : static_cast<int32_t>(length) > 0) {
    const uint32_t flight = flow.snd_nxt - flow.snd_una;
    if (!fits_one_segment(context, shared, flow, length, flight)) return false;
    const uint32_t flags = (length != 0 ? kAck | kPsh : kAck) | (fin ? kFin : 0);
    const bool sent = length != 0 ? send(context, shared, flow, path, length, flags)
                                  : send(context, shared, flow, path, 0, flags);
    if (sent) [[likely]]
      follow_sent(context, counters, flow, length, flight);
    else
      lack_frame(context, counters, flow, true);
  } else if (flow.has(kAckNow)) {
    if (send(context, shared, flow, path, 0, kAck)) [[likely]]
      ++counters[Counter::tcps_sndacks];
    else
      lack_frame(context, counters, flow, false);
  }
  return true;
}

}  // namespace

// The words are read as wide as `compose` has just written them: the processor hands those over
// before they are in the cache.
void complete_checksums(const FlowClass& shared, const Flow& flow, Frame& frame) {
  frame.checksums = Checksums::in_frame;
  uint8_t* const ip = frame.head + kEthernetLength;
  uint8_t* const tcp = frame.head + kPlainTcp;
  const uint32_t in_head = frame.head_length - kPlainTcp;
  const ChecksumSum addresses = checksum_words<2>(tcp - 8);
  store_be(ip + 10, checksum_finish((shared.ethernet_ip & 0xffff) + (shared.ip >> 32) +
                                    (shared.ip & UINT32_MAX) + load_be<uint16_t>(ip + 2) +
                                    checksum_swap(checksum_fold(addresses))));
  ChecksumSum sum = addresses + checksum_words<4>(tcp) + checksum_words<3>(tcp + kFixedHeader);
  if (in_head != kPlainHeader)
    sum += checksum_words<(kPlainSynHeader - kPlainHeader) / 4>(tcp + kPlainHeader);
  uint16_t folded = checksum_swap(checksum_fold(sum));
  ChecksumSum whole = ChecksumSum{folded} + kProtocolTcp + in_head + frame.payload_length;
  if (frame.payload_length != 0)
    whole +=
        (*shared.buffers)[flow.tx_buffer].sum(flow.snd_nxt - flow.tx_base, frame.payload_length);
  store_be(tcp + 16, checksum_finish(whole));
}

void answer(Context& context, FlowClass& shared, Flow& flow) {
  if (!answer_plainly(context, shared, flow)) [[unlikely]] {
    transmit(context, flow);
    settle(flow);
  }
}

}  // namespace engine::tcp
