#pragma once
// What the parts of TCP share among themselves.

#include "flow/context.h"
#include "tcp/constants.h"
#include "tcp/segment.h"
#include "tcp/tcp.h"

namespace engine::tcp {

// -- emit.cpp: segments onto frames --------------------------------------------------------------

/// Sends SYN or, in syn_received, SYN-ACK.
void emit_syn(Context& context, Flow& flow);
/// Sends `length` bytes from `sequence` on (all in one buffer), with FIN when asked.
/// False: no frame buffer (tcps_nombuf).
bool emit_data(Context& context, Flow& flow, uint32_t sequence, uint32_t length, bool fin);
/// Sends a segment without payload.
bool emit_control(Context& context, Flow& flow, uint32_t sequence, uint8_t flags);
/// Longest run of bytes from `sequence` on that one segment may carry (buffer boundary, device).
uint32_t longest_segment(Context& context, Flow& flow, uint32_t sequence);

// -- timing.cpp: round-trip time and timers
// ---------------------------------------------------------

/// RFC 6298 (2.2), (2.3).
void add_rtt_sample(Flow& flow, uint32_t microseconds);
/// RFC 6298 (2.3) to (2.5) with back-off (5.5).
Nanoseconds retransmission_timeout(const Flow& flow);
void start_retransmit_timer(Context& context, Flow& flow);
void start_persist_timer(Context& context, Flow& flow);
void start_keepalive(Context& context, Flow& flow);
void enter_time_wait(Context& context, Flow& flow);
/// Handshake complete on either side: counters, keepalive, congestion window.
void establish(Context& context, Flow& flow);

// -- congestion.cpp: RFC 5681, 6582, 6675 ---------------------------------------------------------

/// RFC 6928 and RFC 5681 section 3.1 with the profile's initwnd.
void start_congestion_control(Context& context, Flow& flow);
/// Enters SACK blocks into the scoreboard; true when one reported something new.
bool update_scoreboard(Context& context, Flow& flow, const Segment& segment);
/// A duplicate ACK; may enter recovery.
void on_duplicate_ack(Context& context, Flow& flow);
/// New data up to `acknowledgment` acknowledged; flow.snd_una is still the old one.
void on_new_ack(Context& context, Flow& flow, uint32_t acknowledgment);
void on_retransmission_timeout(Context& context, Flow& flow);
/// Resends what RFC 6675 section 5 (C) allows during SACK recovery; returns how many bytes of new
/// data may be sent besides.
uint32_t transmit_in_recovery(Context& context, Flow& flow);
inline uint32_t flight_size(const Flow& flow) {
  return flow.snd_max - flow.snd_una;
}

// -- reassembly.cpp
// --------------------------------------------------------------------------------

/// Payload [sequence, sequence + length), not wholly old, arrived. Returns the bytes now in order.
uint32_t reassemble(Context& context, Flow& flow, uint32_t sequence, uint32_t length);

}  // namespace engine::tcp
