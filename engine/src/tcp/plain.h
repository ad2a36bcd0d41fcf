#pragma once
// The plain way: what `receive` and `transmit` do, written for the connection that nothing
// disturbs.
//
// Most segments only acknowledge, bring the next payload, or end the stream, and most answers are
// one segment. For these the many questions of the general way have one answer each, which is known
// before. So the plain way asks them together, and leaves everything that it does not know to the
// general way. Both do the same to a flow, to counters and to frames: tests/netsim/plain_test.cpp
// compares them frame by frame.

#include "flow/context.h"
#include "tcp/plain_segment.h"
#include "tcp/tcp.h"

namespace engine::tcp {

/// The segment or the flow is not plain, and nothing has changed.
inline constexpr Events kNotPlain = 1u << 31;

/// A flow with any of these has something to do beside the plain.
inline constexpr uint32_t kDisturbed =
    kFastRecovery | kGoingBack | kProbing | kEcn | kEcnReduced | kGeneralWay | kExtended;

// Both ends of a connection time-stamp its segments, or neither does. What depends on it is
// compiled for both: most have stamps, and are not to be asked.

/// Whether `flow` is of this side and connected, its segments are stamped or not, and there is no
/// loss, ECN, or closed window.
template <bool kStamped>
bool is_plain(const Flow& flow, Side side) {
  static_assert(kServerSide == static_cast<uint32_t>(Side::server));
  return (flow.flags & (kDisturbed | kTimestamps | kSettled | kServerSide)) ==
         ((kStamped ? uint32_t{kTimestamps} : 0) | kSettled | static_cast<uint32_t>(side));
}
/// The same of a client's flow that waits for a SYN-ACK.
inline bool is_opening(const Flow& flow, Side side) {
  return (flow.flags & (kDisturbed | kServerSide)) == static_cast<uint32_t>(side) &&
         flow.state == FlowState::syn_sent;
}

/// Takes a segment for `flow`, which is_plain, or returns kNotPlain. `shared`: the flow's class.
template <bool kStamped>
Events receive_plain(Context& context, FlowClass& shared, Flow& flow, const PlainSegment& segment);

/// The same of a plain SYN-ACK, for a flow that is_opening.
template <bool kStamped>
Events receive_plain_syn(Context& context, FlowClass& shared, Flow& flow,
                         const PlainSegment& segment);

/// `accept` of a plain SYN.
template <bool kStamped>
void accept_plain(Context& context, FlowClass& shared, Flow& flow, const PlainSegment& syn,
                  uint32_t hash);

/// Sends what is due after receive_plain, as `transmit` does.
template <bool kStamped>
void answer(Context& context, FlowClass& shared, Flow& flow);

}  // namespace engine::tcp
