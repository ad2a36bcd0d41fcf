// Opening a connection: RFC 9293 section 3.10.7.3, options of RFC 2018 and RFC 7323, initial
// sequence numbers of RFC 6528.

#include <algorithm>

#include "tcp/internal.h"
#include "tcp/plain.h"
#include "tcp/plain_compose.h"

namespace engine::tcp {

namespace {

/// RFC 6528: a clock of 4 us ticks plus a keyed hash of the connection's identity.
uint32_t initial_sequence(const Context& context, uint32_t hash) {
  return static_cast<uint32_t>((context.epoch + context.now) >> 12) + hash;
}

[[gnu::always_inline]] inline void start_flow(Context& context, const FlowClass& shared, Flow& flow,
                                              uint32_t hash) {
  const uint32_t sequence = initial_sequence(context, hash);
  flow.snd_una = flow.snd_nxt = flow.snd_max = sequence;
  flow.snd_end = sequence + 1;
  flow.snd_wnd = flow.snd_wl1 = flow.snd_wl2 = 0;
  flow.rcv_nxt = flow.last_ack_sent = 0;
  flow.ts_recent = 0;
  flow.recover = sequence;
  flow.srtt_us = flow.rttvar_us = 0;
  flow.mss = shared.tunables->mss;
  flow.scales = shared.receive_scale;
  flow.duplicate_acks = 0;
  flow.retransmissions = flow.probes = 0;
  flow.tx_buffer = Flow::kNone;
  flow.tx_base = flow.snd_end;
  if (!context.may_be_plain(flow)) flow.set(kGeneralWay);
}

/// After the SYN, whose own timer is due first.
void limit_handshake(Context& context, const FlowClass& shared, Flow& flow) {
  context.wheel.arm_late(flow, TimerKind::keep, context.tick, shared.keep_init);
}

/// Agrees on options with what a SYN or SYN-ACK offers.
[[gnu::always_inline]] inline void take_offer(Context& context, const FlowClass& shared, Flow& flow,
                                              const Segment& syn) {
  const Tunables& tunables = *shared.tunables;
  if (tunables.timestamps_and_scaling && syn.has_timestamps) {
    flow.set(kTimestamps);
    flow.ts_recent = syn.timestamp;
  }
  if (tunables.timestamps_and_scaling && syn.has_scale) {
    flow.set(kScaling);
    flow.scales = static_cast<uint8_t>(syn.scale << 4 | flow.receive_scale());
  } else {
    flow.scales = 0;
  }
  if (tunables.sack && syn.sack_permitted) flow.set(kSack);
  if (tunables.ecn != 0 && syn.is(kEce)) take_ecn_offer(context, flow, syn);
  // RFC 9293 section 3.7.1: without the option, 536 (IPv4) or 1220 (IPv6).
  const uint16_t peer_mss = syn.mss != 0 ? syn.mss : flow.remote.is_v4() ? 536 : 1220;
  // Never so small that headers outweigh all (a hostile MSS of 0 or 1 would be a loop).
  const uint32_t mss = std::max<uint32_t>(std::min(tunables.mss, peer_mss), 10);
  const uint32_t options = flow.has(kTimestamps) ? kTimestampsLength : 0;
  flow.mss = static_cast<uint16_t>(mss > options + 10 ? mss - options : 10);
  flow.rcv_nxt = syn.sequence + 1;
  flow.last_ack_sent = flow.rcv_nxt;
  flow.snd_wnd = syn.window;  // not scaled in a SYN
  flow.snd_wl1 = syn.sequence;
}

/// After a SYN or SYN-ACK was sent. The wheel is to look as early as any timer of data that follows
/// may be due, so that the flow need not be moved when data is sent.
[[gnu::always_inline]] inline void start_handshake_timer(Context& context, Flow& flow) {
  Tick timeout = ticks_for(kInitialRto * kSynBackoff[0]);
  if (flow.retransmissions != 0) [[unlikely]]
    timeout =
        ticks_for(kInitialRto *
                  kSynBackoff[std::min<size_t>(flow.retransmissions, std::size(kSynBackoff) - 1)]);
  context.wheel.arm(flow, TimerKind::retransmit, context.tick, ticks_for(kMinProbe));
  context.wheel.arm_late(flow, TimerKind::retransmit, context.tick, timeout);
}

/// Whether a SYN (or SYN-ACK, `syn_ack`) has the options of a plain one: a SYN offers what the
/// tunables say, a SYN-ACK what both ends have.
template <bool kStamped>
bool has_plain_options(const Flow& flow, const Tunables& tunables, bool syn_ack) {
  constexpr uint32_t kAll = kTimestamps | kScaling | kSack;
  constexpr uint32_t kPlain = kStamped ? kAll : uint32_t{kSack};
  return syn_ack ? (flow.flags & kAll) == kPlain
                 : tunables.timestamps_and_scaling == kStamped && tunables.sack;
}

/// Sends a SYN or SYN-ACK, by `flags`, over IPv4 and an untagged `path`, with all options or with
/// those of connections without time stamps. False: no frame buffer.
template <bool kStamped>
[[gnu::always_inline]] inline bool emit_plain(Context& context, FlowClass& shared, Flow& flow,
                                              const Path& path, uint8_t flags) {
  TransmitQueue& queue = *context.transmit[index_of(shared.side)];
  Frame* const frame = queue.next_as_it_is();
  if (frame == nullptr) [[unlikely]] {
    ++(*shared.counters)[Counter::tcps_nombuf];
    return false;
  }
  constexpr uint32_t kHeader = kPlainSynHeader<kStamped>;
  uint8_t* const options =
      compose<kHeader>(shared, flow, path, *frame, flow.snd_una, 0, flags, shared.windows[0]);
  store_be<uint32_t>(options, kMssHead << 16 | shared.tunables->mss);
  if constexpr (kStamped) {
    store_be<uint32_t>(options + 4, kScaleHead << 8 | flow.receive_scale());
    put_timestamps(context, flow, options + 12);
  }
  store_be<uint32_t>(options + (kStamped ? 8 : 4), kAlignedSackPermitted);
  commit<kHeader>(context, shared, flow, queue, *frame);
  return true;
}

[[gnu::always_inline]] inline void send_syn(Context& context, FlowClass& shared, Flow& flow,
                                            bool syn_ack) {
  CounterBlock& counters = *shared.counters;
  const Path& path = context.paths[index_of(shared.side)][flow.path];
  const auto flags =
      static_cast<uint8_t>((syn_ack ? kSyn | kAck : kSyn) |
                           (shared.tunables->ecn != 0 ? syn_ecn_flags(context, flow) : 0));
  flow.retransmit_purpose = RetransmitPurpose::handshake;
  const Tunables& tunables = *shared.tunables;
  const bool plain = !flow.has(kGeneralWay) && path.vlan == 0;
  bool sent;
  if (plain && has_plain_options<true>(flow, tunables, syn_ack)) [[likely]]
    sent = emit_plain<true>(context, shared, flow, path, flags);
  else if (plain && has_plain_options<false>(flow, tunables, syn_ack))
    sent = emit_plain<false>(context, shared, flow, path, flags);
  else
    sent = emit_options(context, flow, flags);
  if (!sent) [[unlikely]] {
    send_later(context, flow, TimerKind::retransmit);
    return;
  }
  ++counters[Counter::tcps_sndctrl];
  flow.snd_nxt = flow.snd_max = flow.snd_una + 1;
  if (flow.retransmissions == 0) {
    flow.set(kRttTiming);
    flow.rtt_sequence = flow.snd_nxt;
    flow.rtt_tick = context.tick;
    ++counters[Counter::tcps_segstimed];
  } else {
    flow.clear(kRttTiming);
  }
  start_handshake_timer(context, flow);
}

/// The peer's SYN acknowledged ours.
[[gnu::always_inline]] inline Events take_syn_ack(Context& context, FlowClass& shared, Flow& flow,
                                                  const Segment& segment) {
  CounterBlock& counters = *shared.counters;
  take_offer(context, shared, flow, segment);
  flow.set(kAckNow);
  take_rtt(context, counters, flow, segment.acknowledgment);
  flow.snd_una = segment.acknowledgment;
  flow.snd_wl2 = segment.acknowledgment;
  ++counters[Counter::tcps_rcvackpack];
  ++counters[Counter::tcps_rcvackbyte_of];
  establish(context, shared, flow);
  return kEstablished;
}

[[gnu::always_inline]] inline void accept_syn(Context& context, FlowClass& shared, Flow& flow,
                                              const Segment& syn, uint32_t hash) {
  flow.state = FlowState::syn_received;
  start_flow(context, shared, flow, hash);
  ++(*shared.counters)[Counter::tcps_rcvtotal];
  take_offer(context, shared, flow, syn);
  send_syn(context, shared, flow, true);
  limit_handshake(context, shared, flow);
  flow.set(kSettled);
}

}  // namespace

void emit_syn(Context& context, Flow& flow) {
  send_syn(context, context.class_of(flow), flow, flow.state == FlowState::syn_received);
}

void open(Context& context, Flow& flow, uint32_t hash) {
  FlowClass& shared = context.class_of(flow);
  flow.state = FlowState::syn_sent;
  start_flow(context, shared, flow, hash);
  ++(*shared.counters)[Counter::tcps_connattempt];
  send_syn(context, shared, flow, false);
  limit_handshake(context, shared, flow);
}

void accept(Context& context, Flow& flow, const Segment& syn, uint32_t hash) {
  accept_syn(context, context.class_of(flow), flow, syn, hash);
}

template <bool kStamped>
void accept_plain(Context& context, FlowClass& shared, Flow& flow, const PlainSegment& syn,
                  uint32_t hash) {
  accept_syn(context, shared, flow, segment_of_syn<kStamped>(syn, kSyn), hash);
}

template void accept_plain<true>(Context&, FlowClass&, Flow&, const PlainSegment&, uint32_t);
template void accept_plain<false>(Context&, FlowClass&, Flow&, const PlainSegment&, uint32_t);

Events receive_syn_sent(Context& context, Flow& flow, const Segment& segment) {
  FlowClass& shared = context.class_of(flow);
  if (segment.is(kAck) && (!after(segment.acknowledgment, flow.snd_una) ||
                           after(segment.acknowledgment, flow.snd_max))) {
    // An old connection's other half, as a kernel in TIME_WAIT answers: reset it, our SYN comes
    // again.
    if (!segment.is(kRst)) {
      const uint32_t kept = flow.rcv_nxt;
      flow.rcv_nxt = 0;
      emit_control(context, flow, segment.acknowledgment, kRst);
      flow.rcv_nxt = kept;
    }
    return kNothing;
  }
  if (segment.is(kRst)) {
    if (!segment.is(kAck)) return kNothing;
    ++(*shared.counters)[Counter::tcps_conndrops];
    return kGone;
  }
  if (!segment.is(kSyn)) return kNothing;
  if (segment.is(kAck)) {
    const Events events = take_syn_ack(context, shared, flow, segment);
    fit_known_path(context, flow);
    return events;
  }
  // Simultaneous open, RFC 9293 section 3.5 figure 7.
  take_offer(context, shared, flow, segment);
  flow.set(kAckNow);
  flow.state = FlowState::syn_received;
  flow.snd_nxt = flow.snd_una;
  emit_syn(context, flow);
  return kNothing;
}

template <bool kStamped>
Events receive_plain_syn(Context& context, FlowClass& shared, Flow& flow,
                         const PlainSegment& segment) {
  const uint32_t acknowledgment = load_be<uint32_t>(segment.header + 8);
  if (!is_syn_ack(segment) || acknowledgment != flow.snd_max || flow.snd_max == flow.snd_una ||
      (kStamped && !shared.tunables->timestamps_and_scaling))
    return kNotPlain;
  ++(*shared.counters)[Counter::tcps_rcvtotal];
  return take_syn_ack(context, shared, flow, segment_of_syn<kStamped>(segment, kSyn | kAck));
}

template Events receive_plain_syn<true>(Context&, FlowClass&, Flow&, const PlainSegment&);
template Events receive_plain_syn<false>(Context&, FlowClass&, Flow&, const PlainSegment&);

}  // namespace engine::tcp
