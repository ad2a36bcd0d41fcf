// Segments onto frames: headers, options, checksums, payload by reference.

#include <algorithm>

#include "net/compose.h"
#include "net/ethernet.h"
#include "net/ip.h"
#include "tcp/internal.h"

namespace engine::tcp {

namespace {

constexpr unsigned kMaxBlocksBesideTimestamps = 3;

uint8_t* put_timestamps(Context& context, const Flow& flow, uint8_t* at) {
  store_be<uint32_t>(at, kAlignedTimestamps);
  store_be<uint32_t>(at + 4, context.timestamp);
  store_be<uint32_t>(at + 8, flow.ts_recent);
  return at + 12;
}

/// RFC 2018 section 4: the block of the segment that caused this ACK first, then those that were
/// most recently so reported, then the others as far as there is room. What was delivered is none
/// of them: a block below the acknowledgment tells of a duplicate (D-SACK, RFC 2883).
uint8_t* put_sack_blocks(Context& context, const Flow& flow, uint8_t* at) {
  const Extension& extension = context.extensions[flow.extension];
  const unsigned limit = flow.has(kTimestamps) ? kMaxBlocksBesideTimestamps : kMaxSackBlocks;
  const auto& ranges = extension.out_of_order;
  const auto& reported = extension.reported;
  SequenceRange blocks[kMaxSackBlocks];
  unsigned count = 0;
  for (const uint32_t start : reported)
    if (const auto range = std::ranges::find(ranges, start, &SequenceRange::start);
        range != ranges.end() && count < limit)
      blocks[count++] = *range;
  for (const SequenceRange& range : ranges)
    if (count < limit && std::ranges::find(reported, range.start) == reported.end())
      blocks[count++] = range;
  at[0] = at[1] = 1;
  at[2] = 5;
  at[3] = static_cast<uint8_t>(2 + 8 * count);
  at += 4;
  for (unsigned i = 0; i < count; ++i, at += 8) {
    store_be<uint32_t>(at, blocks[i].start);
    store_be<uint32_t>(at + 4, blocks[i].end);
  }
  (*context.classes[flow.flow_class]->counters)[Counter::tcps_sack_send_blocks] += count;
  return at;
}

[[gnu::always_inline]] inline uint8_t* put_syn_options(Context& context, const Flow& flow,
                                                       uint8_t* at) {
  const Tunables& tunables = *context.classes[flow.flow_class]->tunables;
  at[0] = 2;
  at[1] = 4;
  store_be<uint16_t>(at + 2, tunables.mss);
  at += 4;
  // A SYN offers what the tunables say; a SYN-ACK repeats only what the peer offered.
  const bool syn_ack = flow.state == FlowState::syn_received;
  const bool timestamps = syn_ack ? flow.has(kTimestamps) : tunables.timestamps_and_scaling;
  const bool scaling = syn_ack ? flow.has(kScaling) : tunables.timestamps_and_scaling;
  if (scaling) {
    store_be<uint32_t>(at, 0x0103'0300u | flow.receive_scale());
    at += 4;
  }
  if (syn_ack ? flow.has(kSack) : tunables.sack) {
    store_be<uint32_t>(at, 0x0101'0402);
    at += 4;
  }
  if (timestamps) at = put_timestamps(context, flow, at);
  return at;
}

/// The window field: what is received is consumed at once, so the whole buffer is always free.
uint32_t window_field(const Tunables& tunables, const Flow& flow, bool syn) {
  return std::min<uint32_t>(tunables.receive_buffer >> (syn ? 0 : flow.receive_scale()),
                            UINT16_MAX);
}

struct Payload {
  const uint8_t* bytes = nullptr;
  uint32_t length = 0;
  ChecksumSum sum = 0;
};

/// `kIpv4`: of the flow's addresses. In one piece with its callers: a tenth of its instructions
/// were those of the call.
template <bool kIpv4>
[[gnu::always_inline]] inline bool emit_over(Context& context, Flow& flow, uint32_t sequence,
                                             uint8_t flags, const Payload& payload) {
  FlowClass& shared = *context.classes[flow.flow_class];
  const Tunables& tunables = *shared.tunables;
  TransmitQueue& queue = *context.transmit[index_of(shared.side)];
  CounterBlock& counters = *shared.counters;
  Frame* frame = queue.next_as_it_is();
  if (frame == nullptr) {
    ++counters[Counter::tcps_nombuf];
    return false;
  }
  const bool offload = queue.offloads().checksum;
  frame->payload = payload.bytes;
  frame->payload_length = payload.length;
  frame->segment_size = payload.length > flow.mss ? flow.mss : 0;
  frame->checksums = offload ? Checksums::partial : Checksums::in_frame;
  const bool syn = (flags & kSyn) != 0;
  const Path& path = context.paths[index_of(shared.side)][flow.path];
  uint8_t* const ip = frame->head + write_ethernet(frame->head, path, ether_type_of_ip(kIpv4));
  uint8_t* const tcp = ip + (kIpv4 ? kIpv4Length : kIpv6Length);
  uint8_t* end = tcp + kFixedHeader;
  bool reports = false;
  if (syn) {
    end = put_syn_options(context, flow, end);
  } else {
    if (flow.has(kTimestamps)) end = put_timestamps(context, flow, end);
    reports = flow.extension != Flow::kNone && flow.has(kSack) &&
              !context.extensions[flow.extension].out_of_order.empty();
    if (reports && payload.length == 0) end = put_sack_blocks(context, flow, end);
  }
  const auto header_length = static_cast<uint32_t>(end - tcp);
  const uint32_t transport_length = header_length + payload.length;
  const uint8_t ecn =
      flow.has(kEcn) && !syn ? mark_segment(flow, sequence, payload.length, flags) : uint8_t{0};
  const uint8_t tos = tunables.tos_with(ecn);
  ChecksumSum sum;
  if constexpr (kIpv4) {
    const uint32_t local = flow.local.low32();
    const uint32_t remote = flow.remote.low32();
    compose_ipv4(ip, local, remote, kProtocolTcp, transport_length, tos, tunables.ttl, !offload);
    sum = pseudo_header_sum_v4(local, remote, kProtocolTcp, transport_length);
  } else {
    compose_ipv6(ip, flow.local, flow.remote, kProtocolTcp, transport_length, tos, tunables.ttl);
    sum = pseudo_header_sum(flow.local, flow.remote, kProtocolTcp, transport_length);
  }
  store_be<uint16_t>(tcp, flow.local_port);
  store_be<uint16_t>(tcp + 2, flow.remote_port);
  store_be<uint32_t>(tcp + 4, sequence);
  store_be<uint32_t>(tcp + 8, (flags & kAck) != 0 ? flow.rcv_nxt : 0);
  store_be<uint32_t>(
      tcp + 12, header_length << 26 | uint32_t{flags} << 16 | window_field(tunables, flow, syn));
  store_be<uint32_t>(tcp + 16, 0);
  if (offload) {
    store_be<uint16_t>(tcp + 16, checksum_fold(sum));
  } else {
    sum = checksum_add(sum, tcp, header_length) + payload.sum;
    store_be<uint16_t>(tcp + 16, checksum_finish(sum));
  }
  frame->head_length = static_cast<uint16_t>(end - frame->head);
  queue.commit();

  // A segment with payload has no room for SACK blocks, so an ACK that has them is still owed.
  if (!reports || payload.length == 0) flow.clear(kAckNow);
  flow.last_ack_sent = flow.rcv_nxt;
  context.wheel.disarm(flow, TimerKind::delayed_ack);
  ++counters[Counter::tcps_sndtotal];
  return true;
}

[[gnu::noinline]] bool emit_over_ipv6(Context& context, Flow& flow, uint32_t sequence,
                                      uint8_t flags, const Payload& payload) {
  return emit_over<false>(context, flow, sequence, flags, payload);
}

[[gnu::always_inline]] inline bool emit(Context& context, Flow& flow, uint32_t sequence,
                                        uint8_t flags, const Payload& payload) {
  if (flow.local.is_v4()) [[likely]]
    return emit_over<true>(context, flow, sequence, flags, payload);
  return emit_over_ipv6(context, flow, sequence, flags, payload);
}

/// The buffer that holds `sequence` and where it begins.
QueuedBuffer buffer_at(Context& context, const Flow& flow, uint32_t sequence) {
  QueuedBuffer found{flow.tx_buffer, flow.tx_base};
  if (const Extension* extension = context.extension_of(flow))
    for (const QueuedBuffer& queued : extension->queue) {
      if (after(queued.base, sequence)) break;
      found = queued;
    }
  return found;
}

[[gnu::always_inline]] inline bool put_data(Context& context, Flow& flow, uint32_t sequence,
                                            uint32_t length, bool fin) {
  FlowClass& shared = context.class_of(flow);
  CounterBlock& counters = *shared.counters;
  const uint32_t end = sequence + length;
  const bool first_in_flight = flow.snd_una == flow.snd_max;
  uint8_t flags = kAck;
  if (fin) flags |= kFin;
  Payload payload;
  if (length != 0) {
    const QueuedBuffer queued = buffer_at(context, flow, sequence);
    const Buffer& buffer = (*shared.buffers)[queued.buffer];
    const uint32_t offset = sequence - queued.base;
    payload.bytes = buffer.at(offset, length);
    payload.length = length;
    if (!context.transmit[index_of(shared.side)]->offloads().checksum)
      payload.sum = buffer.sum(offset, length);
    if (end == flow.snd_end || shared.tunables->push_always) flags |= kPsh;
  }
  if (!emit(context, flow, sequence, flags, payload)) return false;

  if (length == 0) {
    ++counters[Counter::tcps_sndctrl];
  } else if (before(sequence, flow.snd_max)) {
    ++counters[Counter::tcps_sndrexmitpack];
    counters[Counter::tcps_sndrexmitbyte] += length;
    if (flow.has(kRttTiming) && before(sequence, flow.rtt_sequence))
      flow.clear(kRttTiming);  // Karn
    if (after(end, flow.snd_max)) counters[Counter::tcps_sndbyte_ok] += end - flow.snd_max;
  } else {
    ++counters[Counter::tcps_sndpack];
    counters[Counter::tcps_sndbyte_ok] += length;
    if (!flow.has(kRttTiming)) {
      flow.set(kRttTiming);
      flow.rtt_sequence = end;
      flow.rtt_tick = context.tick;
      ++counters[Counter::tcps_segstimed];
    }
  }
  const uint32_t next = end + (fin ? 1 : 0);
  if (after(next, flow.snd_max)) flow.snd_max = next;
  // Before anything was in flight the timer ran, if it did, to try again (send_later).
  if (first_in_flight || !TimerWheel::is_armed(flow, TimerKind::retransmit) || persists(flow))
    start_retransmit_timer(context, flow);
  return true;
}

}  // namespace

bool has_frame(Context& context, const Flow& flow) {
  FlowClass& shared = context.class_of(flow);
  if (context.transmit[index_of(shared.side)]->next() != nullptr) return true;
  ++(*shared.counters)[Counter::tcps_nombuf];
  return false;
}

uint32_t cut_to_segment(Context& context, const Flow& flow, uint32_t sequence, uint32_t length) {
  if (length > flow.mss) {
    const FlowClass& shared = *context.classes[flow.flow_class];
    const uint32_t most = std::min(context.transmit[index_of(shared.side)]->offloads().max_payload,
                                   Buffer::kMaxSpan - 128);
    length = std::min(length, most > flow.mss ? most / flow.mss * flow.mss : flow.mss);
  }
  // Without an extension there is but one buffer.
  if (flow.extension == Flow::kNone) return length;
  const QueuedBuffer queued = buffer_at(context, flow, sequence);
  const FlowClass& shared = *context.classes[flow.flow_class];
  return std::min(length, queued.base + (*shared.buffers)[queued.buffer].size() - sequence);
}

bool emit_options(Context& context, Flow& flow, uint8_t flags) {
  return emit(context, flow, flow.snd_una, flags, {});
}

bool emit_control(Context& context, Flow& flow, uint32_t sequence, uint8_t flags) {
  if (!emit(context, flow, sequence, flags, {})) return false;
  CounterBlock& counters = *context.class_of(flow).counters;
  ++counters[(flags & (kSyn | kFin | kRst)) != 0 ? Counter::tcps_sndctrl : Counter::tcps_sndacks];
  return true;
}

bool emit_data(Context& context, Flow& flow, uint32_t sequence, uint32_t length, bool fin) {
  return put_data(context, flow, sequence, length, fin);
}

bool emit_queued(Context& context, Flow& flow, uint32_t sequence, uint32_t length, bool fin) {
  return put_data(context, flow, sequence, length, fin);
}

void refuse(Context& context, Side side, const Packet& packet, const Segment& segment,
            const Path& path, const Tunables& tunables) {
  if (segment.is(kRst)) return;
  TransmitQueue& queue = *context.transmit[index_of(side)];
  Frame* frame = queue.next();
  if (frame == nullptr) return;
  const bool ipv4 = packet.source.is_v4();
  const bool offload = queue.offloads().checksum;
  uint8_t* const ip = frame->head + write_ethernet(frame->head, path, ether_type_of_ip(ipv4));
  uint8_t* const tcp = compose_ip(ip, packet.destination, packet.source, kProtocolTcp, kFixedHeader,
                                  tunables.tos_with(0), tunables.ttl, !offload);
  const bool acknowledged = segment.is(kAck);
  store_be<uint16_t>(tcp, packet.destination_port);
  store_be<uint16_t>(tcp + 2, packet.source_port);
  store_be<uint32_t>(tcp + 4, acknowledged ? segment.acknowledgment : 0);
  store_be<uint32_t>(tcp + 8, acknowledged ? 0 : segment.sequence + segment.span());
  tcp[12] = kFixedHeader << 2;
  tcp[13] = acknowledged ? kRst : kRst | kAck;
  store_be<uint16_t>(tcp + 14, 0);
  store_be<uint32_t>(tcp + 16, 0);
  const ChecksumSum sum =
      pseudo_header_sum(packet.destination, packet.source, kProtocolTcp, kFixedHeader);
  if (offload) {
    frame->checksums = Checksums::partial;
    store_be<uint16_t>(tcp + 16, checksum_fold(sum));
  } else {
    store_be<uint16_t>(tcp + 16, checksum_finish(checksum_add(sum, tcp, kFixedHeader)));
  }
  frame->head_length = static_cast<uint16_t>(tcp + kFixedHeader - frame->head);
  queue.commit();
}

}  // namespace engine::tcp
