// Opening a connection: RFC 9293 section 3.10.7.3, options of RFC 2018 and RFC 7323, initial
// sequence numbers of RFC 6528.

#include <algorithm>

#include "net/ethernet.h"
#include "tcp/headers.h"
#include "tcp/internal.h"

namespace engine::tcp {

namespace {

/// RFC 6528: a clock of 4 us ticks plus a keyed hash of the connection's identity. The hash is the
/// flow table's, which is fast, and not cryptographic as the RFC wants it.
uint32_t initial_sequence(const Context& context, const Flow& flow) {
  return static_cast<uint32_t>((context.epoch + context.now) >> 12) + flow.hash;
}

/// The longest segment that the flow's port sends, payload and options, bytes. The tags of a
/// server's flow are those of the SYN.
[[gnu::always_inline]] inline uint16_t own_mss(const FlowClass& template_side, const Flow& flow) {
  if (!template_side.tags_count) [[likely]]
    return template_side.tunables->mss;
  const VlanTags& tags = (*template_side.l2_headers)[flow.l2_header].tags;
  return template_side.tunables->mss_within(template_side.mtu - tag_bytes_in_mtu(tags));
}

/// What both ends begin with; what the peer's SYN tells is left out.
[[gnu::always_inline]] inline void start_flow(Context& context, Flow& flow) {
  const uint32_t sequence = initial_sequence(context, flow);
  flow.snd_una = flow.snd_nxt = flow.snd_max = sequence;
  flow.snd_end = sequence + 1;
  flow.snd_wl2 = 0;
  flow.ts_recent = 0;
  flow.recover = sequence;
  flow.srtt_us = flow.rttvar_us = 0;
  flow.duplicate_acks = 0;
  flow.retransmissions = flow.probes = 0;
  flow.tx_buffer = Flow::kNone;
  flow.tx_base = flow.snd_end;
}

/// After the SYN, whose own timer is due first.
void limit_handshake(Context& context, const FlowClass& template_side, Flow& flow) {
  context.wheel.arm<TimerWheel::Known::looked_at_by>(flow, TimerKind::idle, context.tick,
                                                     template_side.keep_init);
}

/// Agrees on options with what a SYN or SYN-ACK offers.
[[gnu::always_inline]] inline void agree_on_options(Context& context,
                                                    const FlowClass& template_side, Flow& flow,
                                                    const RxSegment& syn) {
  static_assert((uint32_t{kTimestamps} | kSack | kScaling) == kAllOffers &&
                uint32_t{kTimestamps} == kOffersTimestamps && uint32_t{kSack} == kOffersSack);
  const Tunables& tunables = *template_side.tunables;
  const Options& options = syn.options;
  const uint32_t agreed = template_side.offers & options.offered;
  flow.flags |= agreed;
  uint32_t stamps = 0;
  if ((agreed & kTimestamps) != 0) {
    stamps = kTimestampsLength;
    flow.ts_recent = syn.timestamp();
  }
  flow.scales = (agreed & kScaling) != 0
                    ? static_cast<uint8_t>(options.scale << 4 | template_side.receive_scale)
                    : uint8_t{0};
  if (tunables.ecn != 0 && syn.is(kEce)) agree_on_ecn(context, flow, syn);
  // RFC 9293 section 3.7.1: without the option, 536 (IPv4) or 1220 (IPv6).
  const uint16_t peer_mss = options.mss != 0 ? options.mss : flow.has(kIpv6) ? 1220 : 536;
  // Never so small that headers outweigh all (a hostile MSS of 0 or 1 would be a loop).
  const int32_t mss =
      std::min(own_mss(template_side, flow), peer_mss) - static_cast<int32_t>(stamps);
  flow.mss = static_cast<uint16_t>(std::max<int32_t>(mss, kLeastMss));
  flow.rcv_nxt = syn.sequence() + 1;
  flow.last_ack_sent = flow.rcv_nxt;
  flow.snd_wnd = syn.window();  // not scaled in a SYN
  flow.snd_wl1 = syn.sequence();
}

/// After a SYN or SYN-ACK was sent. The wheel is to look as early as any timer of data that follows
/// may be due, so that the flow need not be moved when data is sent.
[[gnu::always_inline]] inline void start_handshake_timer(Context& context, Flow& flow) {
  Tick timeout = ticks_for(kInitialRto * kSynBackoff[0]);
  if (flow.retransmissions != 0) [[unlikely]]
    timeout =
        ticks_for(kInitialRto *
                  kSynBackoff[std::min<size_t>(flow.retransmissions, std::size(kSynBackoff) - 1)]);
  context.wheel.arm(flow, TimerKind::retransmit, context.tick, timeout, ticks_for(kMinProbe));
}

/// Writes a SYN or SYN-ACK, by `flags`, with the options of `offer`, in the order of kSynOptions.
[[gnu::always_inline]] inline void write_syn(const Context& context, const FlowClass& template_side,
                                             const Flow& flow, Frame& frame, uint32_t flags,
                                             uint32_t offer, bool completes) {
  const uint32_t length = kFixedHeader + 4 + ((offer & kScaling) != 0 ? 4 : 0) +
                          ((offer & kSack) != 0 ? 4 : 0) +
                          ((offer & kTimestamps) != 0 ? kTimestampsLength : 0);
  frame.payload = nullptr;
  frame.payload_length = 0;
  // The acknowledgment of a SYN is 0, as rcv_nxt is yet.
  uint8_t* at =
      write_headers(context, template_side, flow, frame,
                    {flow.snd_una, flow.rcv_nxt, length, flags, template_side.windows[0]}, 0);
  store_be<uint32_t>(at, kMssHead << 16 | own_mss(template_side, flow));
  at += 4;
  if ((offer & kScaling) != 0) {
    store_be<uint32_t>(at, kScaleHead << 8 | flow.receive_scale());
    at += 4;
  }
  if ((offer & kSack) != 0) {
    store_be<uint32_t>(at, kAlignedSackPermitted);
    at += 4;
  }
  if ((offer & kTimestamps) != 0) write_timestamps(context, flow, at);
  if (completes) complete_checksums(frame, 0);
}

/// Sends a SYN or SYN-ACK. Most have all options: their layout is known where this is compiled.
/// False: no frame buffer (tcps_nombuf).
[[gnu::always_inline]] inline bool emit_syn_segment(Context& context, FlowClass& template_side,
                                                    Flow& flow, uint32_t flags, bool syn_ack) {
  TransmitQueue& queue = *template_side.transmit;
  Frame* const frame = queue.next_as_it_is();
  if (frame == nullptr) [[unlikely]] {
    ++(*template_side.counters)[Counter::tcps_nombuf];
    return false;
  }
  const bool completes = !queue.offloads().checksum;
  // A SYN offers what the tunables say, a SYN-ACK repeats only what the peer offered.
  const uint32_t offer = syn_ack ? flow.flags & kAllOffers : template_side.offers;
  if (offer == kAllOffers) [[likely]]
    write_syn(context, template_side, flow, *frame, flags, kAllOffers, completes);
  else
    write_syn(context, template_side, flow, *frame, flags, offer, completes);
  flow.clear(kAckNow);
  commit(context, *template_side.counters, flow, queue);
  return true;
}

[[gnu::always_inline]] inline void send_syn(Context& context, FlowClass& template_side, Flow& flow,
                                            bool syn_ack) {
  CounterBlock& counters = *template_side.counters;
  const uint32_t flags = (syn_ack ? kSyn | kAck : kSyn) |
                         (template_side.tunables->ecn != 0 ? syn_ecn_flags(context, flow) : 0);
  flow.retransmit_purpose = RetransmitPurpose::handshake;
  if (!emit_syn_segment(context, template_side, flow, flags, syn_ack)) [[unlikely]] {
    tx_retry(context, flow, TimerKind::retransmit);
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

}  // namespace

void emit_syn(Context& context, Flow& flow) {
  send_syn(context, context.class_of(flow), flow, flow.state == FlowState::syn_received);
}

void open(Context& context, FlowClass& template_side, Flow& flow) {
  start_flow(context, flow);
  flow.snd_wnd = flow.snd_wl1 = 0;
  flow.rcv_nxt = flow.last_ack_sent = 0;
  flow.mss = own_mss(template_side, flow);
  flow.scales = template_side.receive_scale;
  ++(*template_side.counters)[Counter::tcps_connattempt];
  send_syn(context, template_side, flow, false);
  limit_handshake(context, template_side, flow);
}

void accept(Context& context, FlowClass& template_side, Flow& flow, const RxSegment& syn) {
  flow.state = FlowState::syn_received;
  start_flow(context, flow);
  ++(*template_side.counters)[Counter::tcps_rcvtotal];
  agree_on_options(context, template_side, flow, syn);
  send_syn(context, template_side, flow, true);
  limit_handshake(context, template_side, flow);
  begin_fast_path(template_side, flow, flow.snd_max != flow.snd_una);
}

Events receive_syn_sent(Context& context, FlowClass& template_side, Flow& flow,
                        const RxSegment& segment) {
  CounterBlock& counters = *template_side.counters;
  const uint32_t acknowledgment = segment.acknowledgment();
  const bool acknowledged = acknowledgment == flow.snd_max && flow.snd_max != flow.snd_una;
  if (segment.is(kAck) && !acknowledged) {
    // An old connection's other half, as a kernel in TIME_WAIT answers: reset it, our SYN comes
    // again.
    if (!segment.is(kRst)) emit_control(context, flow, acknowledgment, kRst);
    return kNothing;
  }
  if (segment.is(kRst)) {
    if (!segment.is(kAck)) return kNothing;
    ++counters[Counter::tcps_conndrops];
    return kGone;
  }
  if (!segment.is(kSyn)) return kNothing;
  agree_on_options(context, template_side, flow, segment);
  flow.set(kAckNow);
  if (segment.is(kAck)) {
    update_rtt(context, counters, flow, acknowledgment);
    flow.snd_una = acknowledgment;
    flow.snd_wl2 = acknowledgment;
    ++counters[Counter::tcps_rcvackpack];
    ++counters[Counter::tcps_rcvackbyte_of];
    establish(context, template_side, flow);
    fit_known_path(context, flow);
    begin_fast_path(template_side, flow, true);
    return kEstablished;
  }
  // Simultaneous open, RFC 9293 section 3.5 figure 7.
  flow.state = FlowState::syn_received;
  flow.snd_nxt = flow.snd_una;
  emit_syn(context, flow);
  return kNothing;
}

}  // namespace engine::tcp
