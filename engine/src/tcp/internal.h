#pragma once
// What the parts of TCP share among themselves.

#include <algorithm>

#include "flow/context.h"
#include "tcp/constants.h"
#include "tcp/tcp.h"

namespace engine::tcp {

// -- emit.cpp: segments onto frames --------------------------------------------------------------

/// Whether there is a frame buffer for one segment; none is counted (tcps_nombuf).
bool has_mbuf(Context& context, const Flow& flow);
/// Sends `length` bytes from `sequence` on (all in one buffer), with FIN when asked.
/// False: no frame buffer (tcps_nombuf).
bool emit_data(Context& context, Flow& flow, uint32_t sequence, uint32_t length, bool fin);
/// Sends a segment without payload that is no SYN.
bool emit_control(Context& context, Flow& flow, uint32_t sequence, uint8_t flags);
/// How many of `length` queued bytes from `sequence` on one segment may carry (MSS, what the device
/// segments, buffer boundary).
uint32_t segment_length(Context& context, const Flow& flow, uint32_t sequence, uint32_t length);
/// `length` new bytes, which end at `end`, were sent: counts them, and times them if no others are.
[[gnu::always_inline]] inline void count_sent(const Context& context, CounterBlock& counters,
                                              Flow& flow, uint32_t end, uint32_t length) {
  ++counters[Counter::tcps_sndpack];
  counters[Counter::tcps_sndbyte_ok] += length;
  if (flow.has(kRttTiming)) return;
  flow.set(kRttTiming);
  flow.rtt_sequence = end;
  flow.rtt_tick = context.tick;
  ++counters[Counter::tcps_segstimed];
}

// -- round-trip times ----------------------------------------------------------------------------

/// RFC 6298 (2.2), (2.3).
[[gnu::always_inline]] inline void add_rtt_sample(Flow& flow, Tick ticks) {
  uint32_t sample = 1;  // 0: no sample yet
  if (ticks - 1 < kMostShortTicks) [[likely]]
    sample = microseconds_of_short(ticks);
  else if (ticks != 0)
    sample = microseconds_of(ticks);
  if (flow.srtt_us == 0) {
    flow.srtt_us = sample;
    flow.rttvar_us = sample / 2;
    return;
  }
  const uint32_t error = sample > flow.srtt_us ? sample - flow.srtt_us : flow.srtt_us - sample;
  flow.rttvar_us = flow.rttvar_us - flow.rttvar_us / 4 + error / 4;
  flow.srtt_us = std::max(flow.srtt_us - flow.srtt_us / 8 + sample / 8, 1u);
}
/// Whether the timed segment was acknowledged: then its round-trip time counts.
[[gnu::always_inline]] inline void update_rtt(const Context& context, CounterBlock& counters,
                                              Flow& flow, uint32_t acknowledgment) {
  if (!flow.has(kRttTiming) || before(acknowledgment, flow.rtt_sequence)) return;
  flow.clear(kRttTiming);
  add_rtt_sample(flow, context.tick - flow.rtt_tick);
  ++counters[Counter::tcps_rttupdated];
}

// -- input.cpp ------------------------------------------------------------------------------------

/// In-order payload without PSH is acknowledged by the delayed ACK timer, or at once where much is
/// owed.
void acknowledge_in_time(Context& context, Flow& flow, uint32_t length);
/// The peer's FIN came in order. Returns kPeerClosed.
Events process_fin(Context& context, Flow& flow);
/// The FIN was acknowledged. Returns kGone where the connection is over.
Events on_fin_acked(Context& context, Flow& flow);

// -- handshake.cpp -------------------------------------------------------------------------------

/// Sends SYN or, in syn_received, SYN-ACK, and starts the handshake timer.
void emit_syn(Context& context, Flow& flow);
/// Processes a segment in syn_sent.
Events receive_syn_sent(Context& context, FlowClass& template_side, Flow& flow,
                        const RxSegment& segment);

// -- output.cpp -----------------------------------------------------------------------------------

/// States in which data may be sent, or sent again.
inline bool may_send_data(const Flow& flow) {
  constexpr unsigned kStates = 1u << static_cast<unsigned>(FlowState::established) |
                               1u << static_cast<unsigned>(FlowState::close_wait) |
                               1u << static_cast<unsigned>(FlowState::fin_wait_1) |
                               1u << static_cast<unsigned>(FlowState::closing) |
                               1u << static_cast<unsigned>(FlowState::last_ack);
  return (kStates >> static_cast<unsigned>(flow.state) & 1) != 0;
}
/// The sequence number of a segment without payload: SND.NXT, but not beyond the peer's window,
/// which may have taken it back. There it would not be taken (RFC 9293 section 3.10.7.4). A window
/// that is scaled is a rounded one.
inline uint32_t empty_sequence(const Flow& flow) {
  const uint32_t window_end = flow.snd_una + flow.snd_wnd;
  if (flow.state < FlowState::established) return flow.snd_nxt;
  return before(flow.snd_nxt, window_end + (1u << flow.send_scale())) ? flow.snd_nxt : window_end;
}
/// One past the last sequence number queued, a FIN's too.
inline uint32_t queued_end(const Flow& flow) {
  return flow.snd_end + (flow.has(kFinQueued) ? 1 : 0);
}

// -- the fast path -------------------------------------------------------------------------------

/// Whether the next segment of `flow` may take the fast path (takes_fast_path), recomputed: here
/// alone, after all that the slow path did to the flow. The fast path leaves it as it is, until the
/// flow gets an extension or ends.
inline void update_fast_path_flag(const FlowClass& template_side, Flow& flow) {
  constexpr uint32_t kBusy = kFastRecovery | kGoingBack | kProbing | kEcn | kEcnReduced;
  const bool opened =
      flow.state >= FlowState::established ||
      (flow.state == FlowState::syn_received && flow.snd_max != flow.snd_una);  // SYN-ACK was sent
  const uint32_t busy = (flow.flags & kBusy) | (flow.extension ^ Flow::kNone) |
                        flow.retransmissions | flow.duplicate_acks | flow.probes |
                        (flow.snd_nxt ^ flow.snd_max) | uint32_t{template_side.only_slow_path};
  const bool fast = busy == 0 && opened && flow.state < FlowState::time_wait &&
                    flow.retransmit_purpose != RetransmitPurpose::persist;
  fast ? flow.set(kFastPath) : flow.clear(kFastPath);
}

/// The same of a flow whose handshake has just begun or ended: nothing has disturbed it yet.
/// `opened`: its SYN-ACK was sent or taken.
inline void begin_fast_path(const FlowClass& template_side, Flow& flow, bool opened) {
  if (opened && !template_side.only_slow_path && !flow.has(kEcn)) flow.set(kFastPath);
}

// -- timing.cpp: round-trip time and timers ------------------------------------------------------

/// RFC 6298 (2.3) to (2.5) with back-off (5.5).
Nanoseconds retransmission_timeout(const Flow& flow);
/// For the retransmission timeout, or for what should come before it: `probe_timeout` or
/// `reordering_window`.
void start_retransmit_timer(Context& context, Flow& flow);
/// The same on the fast path, where the flow's keepalive timer runs: most have a short round trip.
inline void start_retransmit_timer_fast(Context& context, Flow& flow) {
  constexpr uint32_t kShort = kMinProbe / (2 * kMicrosecond);  // see probe_timeout
  static_assert(kMinProbe < kMinRto);
  if (!flow.has(kSack) || flow.srtt_us - 1 >= kShort) {  // 0: not known
    start_retransmit_timer(context, flow);
    return;
  }
  flow.retransmit_purpose = RetransmitPurpose::probe;
  context.wheel.arm<TimerWheel::Known::listed>(flow, TimerKind::retransmit, context.tick,
                                               ticks_for(kMinProbe));
}
/// For the retransmission timeout, of which `waited` has passed.
void start_timeout(Context& context, Flow& flow, Nanoseconds waited);
void start_persist_timer(Context& context, Flow& flow);
/// Whether the window is closed and nothing in flight would open it.
inline bool persists(const Flow& flow) {
  return flow.retransmit_purpose == RetransmitPurpose::persist;
}
/// Nothing is in flight, and nothing waits for a window.
inline void stop_retransmit_timer(Context& context, Flow& flow) {
  flow.retransmit_purpose = RetransmitPurpose::send;
  context.wheel.disarm(flow, TimerKind::retransmit);
}
/// There was no frame buffer for what `kind` would send: that timer tries again soon, for the
/// purpose that it has. If it ran for something later, that begins anew when all has left.
void tx_retry(Context& context, Flow& flow, TimerKind kind);
[[gnu::always_inline]] inline void start_keepalive(Context& context, const FlowClass& template_side,
                                                   Flow& flow) {
  context.wheel.arm(flow, TimerKind::idle, context.tick, template_side.keep_idle);
}

// -- path_mtu.cpp ---------------------------------------------------------------------------------

void look_up_path(Context& context, Flow& flow);
/// After the handshake: makes the flow's segments fit what is known of its path.
inline void fit_known_path(Context& context, Flow& flow) {
  if (!context.path_mtus.empty()) [[unlikely]]
    look_up_path(context, flow);
}

// -- time_wait.cpp -------------------------------------------------------------------------------

/// The flow's TIME_WAIT begins, again if it was in it: no timer runs any more (begins_time_wait).
void enter_time_wait(Context& context, Flow& flow);

// -- congestion.cpp: how much may be in flight ----------------------------------------------------

inline constexpr uint32_t kLargestWindow = 0x3fff'ffff;
/// RFC 6928, and RFC 5681 section 3.1, with the profile's initwnd.
inline uint32_t initial_window(const FlowClass& template_side, const Flow& flow) {
  const Tunables& tunables = *template_side.tunables;
  const uint32_t mss = flow.mss;
  return std::min(tunables.initial_window * mss,
                  std::max<uint32_t>(2 * mss, tunables.initial_window * 1460u));
}
inline void start_congestion_control(const FlowClass& template_side, Flow& flow) {
  flow.ssthresh = kLargestWindow;
  // RFC 6928 section 2: more than one SYN or SYN-ACK lost is a sign of congestion.
  flow.cwnd = flow.retransmissions > 1 ? flow.mss : initial_window(template_side, flow);
}
/// `acked` new bytes outside of loss recovery, which `uses_window`; flow.snd_una is still the old
/// one.
void grow_window(Context& context, Flow& flow, uint32_t acked);
/// RFC 7661 section 4.1 (and RFC 9438 section 4.2): a window that was not made use of says nothing
/// about the path, and does not grow. `flow.snd_una` is still the old one.
inline bool uses_window(const Flow& flow) {
  return (flow.snd_max - flow.snd_una) * 2 >= flow.cwnd;  // less than 2^31 is in flight
}
/// A sign of congestion: sets ssthresh, and what the algorithm remembers.
void reduce_threshold(Context& context, Flow& flow);
/// RFC 5681 section 4.1: slow start again when nothing was sent for a retransmission timeout.
void restart_after_idle(Context& context, Flow& flow);
/// The peer echoes a CE mark: RFC 3168 section 6.1.2.
void on_congestion_echo(Context& context, Flow& flow);
void on_retransmission_timeout(Context& context, Flow& flow);
/// All that is in flight is to be sent again, whatever was being done about a loss.
void go_back(Flow& flow);
/// Bytes sent and not cumulatively acknowledged (RFC 5681 section 2).
inline uint32_t flight_size(const Flow& flow) {
  return flow.snd_max - flow.snd_una;
}

// -- cubic.cpp ------------------------------------------------------------------------------------

/// The slow start threshold after a sign of congestion at `flight` bytes (RFC 9438 section 4.6).
uint32_t cubic_reduce(Context& context, Flow& flow, uint32_t flight);
/// Congestion avoidance.
void cubic_grow(Context& context, Flow& flow, uint32_t acked);

// -- ecn.cpp: RFC 3168 ----------------------------------------------------------------------------

/// A segment of a marked packet, or of a flow that agreed on ECN.
void on_code_point(Context& context, Flow& flow, const RxSegment& segment);
/// Agrees with a SYN or SYN-ACK.
void agree_on_ecn(Context& context, Flow& flow, const RxSegment& syn);
/// ECE and CWR of the SYN or SYN-ACK to be sent.
uint8_t syn_ecn_flags(Context& context, const Flow& flow);
/// Adds ECE and CWR to `flags` of a segment of a flow that agreed on ECN; its ECN code point.
uint8_t mark_segment(Flow& flow, uint32_t sequence, uint32_t length, uint32_t& flags);

// -- recovery.cpp: RFC 6582, 6675 -----------------------------------------------------------------

/// Sends one segment from `sequence` on, not beyond `limit`, again; returns its length in sequence
/// space, 0 when there was no frame buffer.
uint32_t resend(Context& context, Flow& flow, uint32_t sequence, uint32_t limit);
/// Loss recovery: makes up for the resending of the first segment in flight that found no frame
/// buffer. False: there is none yet.
bool resend_first(Context& context, Flow& flow);
/// Enters SACK blocks into the scoreboard; true when one reported something new.
bool update_scoreboard(Context& context, Flow& flow, const RxSegment& segment);
void enter_recovery(Context& context, Flow& flow);
/// A duplicate ACK; may enter recovery.
void on_duplicate_ack(Context& context, Flow& flow);
/// New data up to `acknowledgment` acknowledged; flow.snd_una is still the old one.
void on_new_ack(Context& context, Flow& flow, uint32_t acknowledgment);
/// Resends what RFC 6675 section 5 (C) allows during SACK recovery; returns how many bytes of new
/// data may be sent besides.
uint32_t transmit_in_recovery(Context& context, Flow& flow);
/// Going back after a timeout: moves snd_nxt beyond what SACK has reported since. Returns the bytes
/// until the next such range; UINT32_MAX: there is none.
uint32_t skip_reported(Context& context, Flow& flow);

// -- probe.cpp: RFC 8985 --------------------------------------------------------------------------

/// Whether a tail loss probe may be sent when no ACK comes (section 7.2).
bool may_probe(const Flow& flow);
Nanoseconds probe_timeout(const Flow& flow);
/// Whether SACK reported data behind a hole that is not taken for lost yet.
bool has_open_hole(Context& context, const Flow& flow);
Nanoseconds reordering_window(const Flow& flow);
/// The timer ran as probe or reordering timer. False: there is nothing to do before the timeout.
bool expire_probe(Context& context, Flow& flow);
/// An ACK, already processed, while a probe is out; `advanced`: it acknowledged new data.
void on_ack_while_probing(Context& context, Flow& flow, const RxSegment& segment, bool advanced);

// -- reassembly.cpp ------------------------------------------------------------------------------

/// Payload [sequence, sequence + length), not wholly old, arrived. Returns kTaken, unless it was
/// held before or cannot be held, and kDelivered if it is in order.
Events reassemble(Context& context, Flow& flow, uint32_t sequence, uint32_t length);
/// `length` bytes of payload came in order, or fill a gap.
inline void deliver(CounterBlock& counters, Flow& flow, uint32_t length) {
  ++counters[Counter::tcps_rcvpack];
  counters[Counter::tcps_rcvbyte] += length;
  flow.rcv_nxt += length;
  flow.rx_available += length;
}

// -- the end of a handshake -----------------------------------------------------------------------

/// Handshake complete on either side: counters, keepalive, congestion window.
[[gnu::always_inline]] inline void establish(Context& context, FlowClass& template_side,
                                             Flow& flow) {
  flow.state = FlowState::established;
  start_congestion_control(template_side, flow);
  flow.retransmissions = 0;
  stop_retransmit_timer(context, flow);
  ++(*template_side.counters)[Counter::tcps_connects];
  // In the place of the handshake's limit, which runs.
  context.wheel.arm<TimerWheel::Known::running>(flow, TimerKind::idle, context.tick,
                                                template_side.keep_idle);
  flow.set(kEverEstablished);
}
/// In syn_received: the ACK of the SYN-ACK. Returns kEstablished.
[[gnu::always_inline]] inline Events on_handshake_ack(Context& context, FlowClass& template_side,
                                                      Flow& flow, uint32_t sequence,
                                                      uint32_t acknowledgment) {
  CounterBlock& counters = *template_side.counters;
  update_rtt(context, counters, flow, acknowledgment);
  flow.snd_una = acknowledgment;
  flow.snd_wl1 = sequence - 1;
  ++counters[Counter::tcps_rcvackpack];
  ++counters[Counter::tcps_rcvackbyte_of];
  if (flow.has(kServerSide)) ++counters[Counter::tcps_accepts];
  establish(context, template_side, flow);
  fit_known_path(context, flow);
  return kEstablished;
}

}  // namespace engine::tcp
