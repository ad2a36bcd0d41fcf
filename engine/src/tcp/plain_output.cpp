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
template <bool kStamped>
[[gnu::always_inline]] inline bool send(Context& context, const FlowClass& shared, Flow& flow,
                                        const Path& path, uint32_t length, uint32_t flags) {
  TransmitQueue& queue = *context.transmit[index_of(shared.side)];
  Frame* const frame = queue.next_as_it_is();
  if (frame == nullptr) [[unlikely]]
    return false;
  constexpr uint32_t kHeader = kPlainHeader<kStamped>;
  uint8_t* const options = compose<kHeader>(shared, flow, path, *frame, flow.snd_nxt, length, flags,
                                            shared.windows[flow.has(kScaling)]);
  if constexpr (kStamped) put_timestamps(context, flow, options);
  commit<kHeader>(context, shared, flow, queue, *frame);
  return true;
}

/// Sends all that is queued in one segment, or an ACK that is owed. False: nothing was done.
template <bool kStamped>
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
    const bool sent = length != 0 ? send<kStamped>(context, shared, flow, path, length, flags)
                                  : send<kStamped>(context, shared, flow, path, 0, flags);
    if (sent) [[likely]]
      follow_sent(context, counters, flow, length, flight);
    else
      lack_frame(context, counters, flow, true);
  } else if (flow.has(kAckNow)) {
    if (send<kStamped>(context, shared, flow, path, 0, kAck)) [[likely]]
      ++counters[Counter::tcps_sndacks];
    else
      lack_frame(context, counters, flow, false);
  }
  return true;
}

}  // namespace

// The words are read as wide as `compose` has just written them: the processor hands those over
// before they are in the cache. TCP's checksum field has the pseudo-header's sum.
template <uint32_t header>
void complete_checksums(const FlowClass& shared, const Flow& flow, Frame& frame) {
  frame.checksums = Checksums::in_frame;
  uint8_t* const ip = frame.head + kEthernetLength;
  uint8_t* const tcp = frame.head + kPlainTcp;
  uint16_t length;
  std::memcpy(&length, ip + 2, sizeof length);
  const uint16_t of_ip = checksum_finish(shared.ip_sum + length + checksum_words<2>(tcp - 8));
  std::memcpy(ip + 10, &of_ip, sizeof of_ip);
  ChecksumSum sum = checksum_words<header / 4>(tcp);
  if (frame.payload_length != 0) {
    const Buffer& buffer = (*shared.buffers)[flow.tx_buffer];
    sum +=
        checksum_swap(checksum_fold(buffer.sum(flow.snd_nxt - flow.tx_base, frame.payload_length)));
  }
  const uint16_t of_tcp = checksum_finish(sum);
  std::memcpy(tcp + 16, &of_tcp, sizeof of_tcp);
}

template void complete_checksums<kPlainHeader<true>>(const FlowClass&, const Flow&, Frame&);
template void complete_checksums<kPlainHeader<false>>(const FlowClass&, const Flow&, Frame&);
template void complete_checksums<kPlainSynHeader<true>>(const FlowClass&, const Flow&, Frame&);
template void complete_checksums<kPlainSynHeader<false>>(const FlowClass&, const Flow&, Frame&);

template <bool kStamped>
void answer(Context& context, FlowClass& shared, Flow& flow) {
  if (!answer_plainly<kStamped>(context, shared, flow)) [[unlikely]] {
    transmit(context, flow);
    settle(flow);
  }
}

template void answer<true>(Context&, FlowClass&, Flow&);
template void answer<false>(Context&, FlowClass&, Flow&);

}  // namespace engine::tcp
