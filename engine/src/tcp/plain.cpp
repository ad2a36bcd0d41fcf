#include "tcp/plain.h"

#include <algorithm>

#include "net/compose.h"
#include "net/ethernet.h"
#include "tcp/internal.h"

namespace engine::tcp {

namespace {

/// A flow with any of these has something to do beside the plain.
constexpr uint32_t kDisturbed =
    kFastRecovery | kAfterTimeout | kProbing | kEcn | kEcnReduced | kGeneralWay;

/// A connection that both ends time-stamp, without loss, ECN, or more than one buffer to send.
bool is_plain(const Flow& flow) {
  return (flow.flags & (kDisturbed | kTimestamps)) == kTimestamps &&
         flow.extension == Flow::kNone && !persists(flow);
}

/// Data offset and flags of a TCP header: with time stamps alone, and with ACK, PSH and FIN alone.
bool is_plain(const uint8_t* header) {
  constexpr uint16_t kFree = kPsh | kFin;
  return (load_be<uint16_t>(header + 12) & ~kFree) == (8 << 12 | kAck) &&
         load_be<uint32_t>(header + kFixedHeader) == kAlignedTimestamps;
}

/// `acked` new bytes, in `length` bytes of payload. Returns what take_new_ack would.
Events take_plain_ack(Context& context, CounterBlock& counters, Flow& flow, uint32_t acknowledgment,
                      uint32_t length) {
  const uint32_t acked = acknowledgment - flow.snd_una;
  if (length == 0) ++counters[Counter::tcps_predack];
  ++counters[Counter::tcps_rcvackpack];
  counters[Counter::tcps_rcvackbyte] += acked;
  take_rtt(context, counters, flow, acknowledgment);
  flow.duplicate_acks = 0;
  if (uses_window(flow)) grow_window(context, flow, acked);
  flow.snd_una = acknowledgment;
  if (before(flow.snd_nxt, acknowledgment)) flow.snd_nxt = acknowledgment;
  flow.retransmissions = 0;
  if (acknowledgment == flow.snd_max)
    stop_retransmit_timer(context, flow);
  else
    start_plain_retransmit_timer(context, flow);  // RFC 6298 (5.3)
  if (!flow.has(kFinQueued) || acknowledgment != flow.snd_end + 1) return kAcknowledged;

  --counters[Counter::tcps_rcvackbyte];
  ++counters[Counter::tcps_rcvackbyte_of];
  if (flow.state == FlowState::fin_wait_1)
    flow.state = FlowState::fin_wait_2;
  else if (flow.state == FlowState::closing)
    enter_time_wait(context, flow);
  else if (flow.state == FlowState::last_ack)
    return kAcknowledged | kGone;
  return kAcknowledged;
}

constexpr uint32_t kTcpLength = kFixedHeader + 12;  ///< of a header with time stamps
constexpr size_t kTcp = kEthernetLength + kIpv4Length;

/// Completes the checksums of a frame that `compose` wrote, for a device that does not.
[[gnu::noinline]] void complete_checksums(const FlowClass& shared, const Flow& flow, Frame& frame) {
  frame.checksums = Checksums::in_frame;
  uint8_t* const ip = frame.head + kEthernetLength;
  uint8_t* const tcp = frame.head + kTcp;
  store_be(ip + 10, checksum_finish(checksum_add(0, ip, kIpv4Length)));
  ChecksumSum sum = checksum_add(0, tcp, kTcpLength);
  if (frame.payload_length != 0)
    sum += (*shared.buffers)[flow.tx_buffer].sum(flow.snd_nxt - flow.tx_base, frame.payload_length);
  store_be(tcp + 16, checksum_finish(sum));
}

/// Writes a segment of `length` bytes from snd_nxt on. Its checksums are left to the device.
[[gnu::always_inline]] inline void compose(Context& context, const FlowClass& shared,
                                           const Flow& flow, const Path& path, Frame& frame,
                                           uint32_t length, uint32_t flags) {
  const Tunables& tunables = *shared.tunables;
  frame.payload = nullptr;
  if (length != 0)
    frame.payload = (*shared.buffers)[flow.tx_buffer].at(flow.snd_nxt - flow.tx_base, length);
  frame.payload_length = length;
  frame.segment_size = 0;
  frame.head_length = kTcp + kTcpLength;
  frame.checksums = Checksums::partial;

  uint8_t* const head = frame.head;
  std::memcpy(head, &path, 12);
  store_be<uint16_t>(head + 12, kEtherTypeIpv4);
  const uint32_t local = flow.local.low32();
  const uint32_t remote = flow.remote.low32();
  compose_ipv4(head + kEthernetLength, local, remote, kProtocolTcp, kTcpLength + length,
               tunables.tos_with(0), tunables.ttl, false);
  uint8_t* const tcp = head + kTcp;
  store_be<uint32_t>(tcp, uint32_t{flow.local_port} << 16 | flow.remote_port);
  store_be<uint32_t>(tcp + 4, flow.snd_nxt);
  store_be<uint32_t>(tcp + 8, flow.rcv_nxt);
  const uint32_t window =
      std::min<uint32_t>(tunables.receive_buffer >> flow.receive_scale(), UINT16_MAX);
  store_be<uint32_t>(tcp + 12, kTcpLength << 26 | flags << 16 | window);
  const ChecksumSum sum = pseudo_header_sum_v4(local, remote, kProtocolTcp, kTcpLength + length);
  store_be<uint32_t>(tcp + 16, uint32_t{checksum_fold(sum)} << 16);
  store_be<uint32_t>(tcp + 20, kAlignedTimestamps);
  store_be<uint32_t>(tcp + 24, context.timestamp);
  store_be<uint32_t>(tcp + 28, flow.ts_recent);
}

/// Whether all that is queued, `left` bytes and perhaps a FIN, may leave in one segment now.
bool fits_one_segment(const Context& context, const FlowClass& shared, const Flow& flow,
                      uint32_t left) {
  const uint32_t flight = flow.snd_nxt - flow.snd_una;
  // Nothing is sent again, nothing was idle for long, and no window or silly window holds it back.
  if (flow.snd_nxt != flow.snd_max || flow.duplicate_acks != 0 || left > flow.mss ||
      flight + left > flow.cwnd || flight + left > flow.snd_wnd)
    return false;
  if (flight == 0) return context.tick - flow.rtt_tick <= ticks_for(kMinRto);
  return left == flow.mss || flow.has(kFinQueued) || !shared.tunables->nagle;
}

/// After all that was queued has left in a segment of `length` bytes.
void follow_sent(Context& context, CounterBlock& counters, Flow& flow, uint32_t length) {
  const bool first_in_flight = flow.snd_una == flow.snd_max;
  flow.snd_nxt = flow.snd_max = flow.snd_end;
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
  if (flow.has(kFinQueued)) flow.snd_max = ++flow.snd_nxt;
  if (first_in_flight || !TimerWheel::is_armed(flow, TimerKind::retransmit))
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
[[gnu::always_inline]] inline bool send(Context& context, FlowClass& shared, Flow& flow,
                                        const Path& path, uint32_t length, uint32_t flags) {
  TransmitQueue& queue = *context.transmit[index_of(shared.side)];
  Frame* const frame = queue.next_as_it_is();
  if (frame == nullptr) [[unlikely]]
    return false;
  compose(context, shared, flow, path, *frame, length, flags);
  if (!queue.offloads().checksum) complete_checksums(shared, flow, *frame);
  queue.commit();
  flow.clear(kAckNow);
  flow.last_ack_sent = flow.rcv_nxt;
  context.wheel.disarm(flow, TimerKind::delayed_ack);
  ++(*shared.counters)[Counter::tcps_sndtotal];
  return true;
}

/// Sends all that is queued in one segment, or an ACK that is owed. False: nothing was done.
[[gnu::always_inline]] inline bool answer_plainly(Context& context, FlowClass& shared, Flow& flow) {
  const Path& path = context.paths[index_of(shared.side)][flow.path];
  if (!is_plain(flow) || path.vlan != 0) return false;
  CounterBlock& counters = *shared.counters;
  if (may_send_data(flow) && before(flow.snd_nxt, queued_end(flow))) {
    const uint32_t length = flow.snd_end - flow.snd_nxt;
    if (!fits_one_segment(context, shared, flow, length)) return false;
    uint32_t flags = length != 0 ? kAck | kPsh : kAck;
    if (flow.has(kFinQueued)) flags |= kFin;
    if (send(context, shared, flow, path, length, flags)) [[likely]]
      follow_sent(context, counters, flow, length);
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

Events receive_plain(Context& context, FlowClass& shared, Flow& flow, const Packet& packet) {
  const uint8_t* const header = packet.transport;
  if (!is_plain(header) || !is_plain(flow) || flow.state < FlowState::syn_received ||
      flow.state >= FlowState::time_wait || (packet.traffic_class & 3) != 0)
    return kNotPlain;
  const uint32_t length = packet.payload_length;
  const auto sequence = load_be<uint32_t>(header + 4);
  const auto acknowledgment = load_be<uint32_t>(header + 8);
  const auto timestamp = load_be<uint32_t>(header + kFixedHeader + 4);
  const bool fin = (header[13] & kFin) != 0;
  const bool advances = acknowledgment != flow.snd_una;
  if (sequence != flow.rcv_nxt || length > shared.tunables->receive_buffer ||
      before(timestamp, flow.ts_recent) ||
      acknowledgment - flow.snd_una > flow.snd_max - flow.snd_una ||
      (length != 0 || fin ? flow.has(kPeerFin) : !advances) ||
      (flow.state == FlowState::syn_received && !advances))
    return kNotPlain;

  CounterBlock& counters = *shared.counters;
  ++counters[Counter::tcps_rcvtotal];
  if (!after(sequence, flow.last_ack_sent)) flow.ts_recent = timestamp;
  if (TimerWheel::is_armed(flow, TimerKind::keep) && flow.state >= FlowState::established) {
    start_keepalive(context, shared, flow);
    if (flow.snd_una == flow.snd_max) flow.retransmissions = 0;  // answered keepalive probes
  }
  Events events = kNothing;
  if (flow.state == FlowState::syn_received) {
    events = take_handshake_ack(context, counters, flow, sequence, acknowledgment);
    if (length != 0 || fin) ++counters[Counter::tcps_preddat];
  } else if (advances) {
    events = take_plain_ack(context, counters, flow, acknowledgment, length);
    if ((events & kGone) != 0) return events;
  } else {
    ++counters[Counter::tcps_preddat];
  }
  take_window(flow, sequence, acknowledgment, length, load_be<uint16_t>(header + 14), counters);
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
  if (fin) events |= take_fin(context, flow);
  return events;
}

void answer(Context& context, FlowClass& shared, Flow& flow) {
  if (!answer_plainly(context, shared, flow)) [[unlikely]]
    transmit(context, flow);
}

}  // namespace engine::tcp
