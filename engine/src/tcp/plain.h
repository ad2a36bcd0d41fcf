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
#include "net/packet.h"
#include "tcp/tcp.h"

namespace engine::tcp {

/// The segment or the flow is not plain, and nothing has changed.
inline constexpr Events kNotPlain = 1u << 31;

/// Takes the segment in `packet`, of a flow whose program is known, or returns kNotPlain. `shared`:
/// the flow's class.
Events receive_plain(Context& context, FlowClass& shared, Flow& flow, const Packet& packet);

/// Sends what is due, as `transmit` does.
void answer(Context& context, FlowClass& shared, Flow& flow);

}  // namespace engine::tcp
