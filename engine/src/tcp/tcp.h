#pragma once
// TCP (RFC 9293) without I/O: segments, time and the program's wishes in, segments and events out.
//
// Every event of a flow is handled in three steps. `receive_...` or `expire` changes the flow's
// state and says what happened; the program acts on that with `queue`, `close` or `abort`;
// `transmit` then sends whatever is due, so that data, ACK and FIN that belong together leave in
// one segment. Only segments that are no part of the stream leave in the first step: SYN, RST, and
// probes.

#include <cstdint>

#include "flow/context.h"
#include "flow/timer_kind.h"
#include "net/rx_segment.h"
#include "tcp/stream_coder.h"

namespace engine::tcp {

/// What a call brought about, for the program.
enum Event : uint32_t {
  kNothing = 0,
  kEstablished = 1 << 0,   ///< the handshake is complete
  kDelivered = 1 << 1,     ///< in-order payload was added to Flow::rx_available
  kAcknowledged = 1 << 2,  ///< the peer acknowledged new data
  kPeerClosed = 1 << 3,    ///< the peer's FIN came in order
  kGone = 1 << 4,          ///< the connection is over; release the flow
  /// Payload of the segment was taken, in order or to be held: told on the slow path only. No
  /// program waits for it (Wait).
  kTaken = 1 << 8,
};
using Events = uint32_t;

/// Active open: the flow's identity and class (`template_side`) are set; sends the SYN.
void open(Context& context, FlowClass& template_side, Flow& flow);

/// Passive open by a SYN for a flow whose identity, class and layer-2 header are set; sends the
/// SYN-ACK.
void accept(Context& context, FlowClass& template_side, Flow& flow, const RxSegment& syn);

// A received segment is processed on the fast path or on the slow one. The fast path is for the
// connection that nothing disturbs. Most segments only acknowledge, bring the next payload, or end
// the stream, and most answers are one segment: for these the many questions of the slow path have
// one answer each, which is known before. Both paths do the same to a flow, to counters and to
// frames: tests/netsim/fast_path_test.cpp compares them frame by frame.

/// Whether `flow` and `segment` are for the fast path, as far as flags tell.
inline bool takes_fast_path(const Flow& flow, const RxSegment& segment) {
  constexpr uint32_t kForm = kFastPath | kTimestamps | kEcn;
  static_assert(static_cast<uint32_t>(FastPath::bare) == kFastPath);
  static_assert(static_cast<uint32_t>(FastPath::stamped) == (kFastPath | kTimestamps));
  static_assert(static_cast<uint32_t>(FastPath::no) == (kFastPath | kEcn));  // no flow has both
  return ((flow.flags ^ static_cast<uint32_t>(segment.fast)) & kForm) == 0;
}
/// The segment is for the slow path, and nothing has changed.
inline constexpr Events kNotFast = 1u << 31;
/// Processes a segment that belongs to `flow`, whose class is `template_side`, and that it
/// `takes_fast_path`; or returns kNotFast.
Events receive_fast(Context& context, FlowClass& template_side, Flow& flow,
                    const RxSegment& segment);
/// Processes any segment that belongs to `flow`.
Events receive_slow_path(Context& context, FlowClass& template_side, Flow& flow,
                         const RxSegment& segment);

/// A timer of kind retransmit, delayed_ack or idle has expired.
Events expire(Context& context, Flow& flow, TimerKind kind);

/// What came of a message about the MTU of a flow's path.
enum class PathMtu : uint8_t {
  refused,  ///< nobody who saw what the flow sent would say that now
  known,    ///< its segments fit already
  lowered   ///< they do from now on, and all that is in flight is to be sent again
};
/// A router says that the packet of `flow` with this sequence number was longer than `mtu`, which
/// is in bytes of an IP packet. `transmit_slow_path` then sends what is due.
PathMtu process_path_mtu(Context& context, Flow& flow, uint32_t sequence, uint32_t mtu);

/// Appends a buffer to a stream that has others yet to send.
void queue_behind(Context& context, Flow& flow, uint32_t buffer);
/// Appends a whole buffer of FlowClass::buffers to the stream.
inline void append(Context& context, FlowClass& template_side, Flow& flow, uint32_t buffer) {
  const uint32_t size = (*template_side.buffers)[buffer].size();
  (*template_side.counters)[Counter::tcps_sndbyte] += size;
  if (flow.snd_una == flow.snd_end || flow.tx_buffer == Flow::kNone) {
    flow.tx_buffer = buffer;
    flow.tx_base = flow.snd_end;
  } else {
    queue_behind(context, flow, buffer);
  }
  flow.snd_end += size;
}

/// No more data will be appended: FIN follows the last byte.
void finish(Flow& flow);

/// The program's next bytes: a whole buffer of the profile.
inline void queue(Context& context, FlowClass& template_side, Flow& flow, uint32_t buffer) {
  if (template_side.coder != nullptr) [[unlikely]]
    template_side.coder->queue(context, flow, buffer);
  else
    append(context, template_side, flow, buffer);
}
/// The program queues no more.
inline void close(Context& context, FlowClass& template_side, Flow& flow) {
  if (template_side.coder != nullptr) [[unlikely]]
    template_side.coder->close(context, flow);
  else
    finish(flow);
}

/// Sends RST; the caller releases the flow. False: there was no frame buffer, try again later.
bool abort(Context& context, Flow& flow);

/// Sends what windows, congestion control and timers allow now, or a pure ACK when one is owed.
void transmit(Context& context, FlowClass& template_side, Flow& flow);
/// The same for what no segment brought about: after `expire`, a message about the path, a program
/// that was woken by a timer.
void transmit_slow_path(Context& context, Flow& flow);

/// Whether what just happened took the flow to TIME_WAIT, or restarted it there. Once what is due
/// is sent, it is to wait as a record or as a flow.
inline bool begins_time_wait(const Flow& flow) {
  return flow.state == FlowState::time_wait && !TimerWheel::is_armed(flow, TimerKind::retransmit);
}
/// A record, which the flow table and the flow's owner do not know yet, for a flow that begins
/// TIME_WAIT. kNone: the flow still has to send, or there is no record.
uint32_t wait_as_record(Context& context, const Flow& flow);
/// Starts the timer of a flow that begins TIME_WAIT.
void wait_as_flow(Context& context, Flow& flow);
/// Whether a SYN opens a new connection in the place of `flow`, which is in TIME_WAIT (RFC 6191).
bool gives_way(Context& context, const Flow& flow, const RxSegment& syn);
/// Makes `flow`, which is new, the connection of a record, to take a segment. It ends when the
/// record would have.
void restore(Context& context, uint32_t record, Flow& flow);

/// Bytes queued and not yet acknowledged.
inline uint32_t unacknowledged(const Flow& flow) {
  // After the FIN is acknowledged snd_una is one past snd_end.
  return after(flow.snd_end, flow.snd_una) ? flow.snd_end - flow.snd_una : 0;
}

/// Answers a segment that belongs to no flow (RFC 9293 section 3.10.7.1).
void send_reset(Context& context, Side side, const RxSegment& segment, const L2Header& l2,
                const Tunables& tunables);

}  // namespace engine::tcp
