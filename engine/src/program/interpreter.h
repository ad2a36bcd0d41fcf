#pragma once
// Runs a flow's program: what the two ends of a connection say to each other.

#include "flow/context.h"
#include "tcp/tcp.h"

namespace engine::program {

/// What becomes of the flow after its program ran.
enum class Outcome : uint8_t {
  goes_on,
  release,  ///< the program ended it (UDP end, close_msg, reset): release the flow
  endless,  ///< the program would go on for ever: the same, after wake_from_delay alone
};

/// Whether a flow has waited for any of `events`. The other waits are ended by a timer, or never;
/// one for nothing was paused by the watchdog.
inline bool wakes(const Flow& flow, tcp::Events events) {
  static_assert(static_cast<unsigned>(Wait::connected) == tcp::kEstablished &&
                static_cast<unsigned>(Wait::received) == tcp::kDelivered &&
                static_cast<unsigned>(Wait::acknowledged) == tcp::kAcknowledged &&
                static_cast<unsigned>(Wait::peer_close) == tcp::kPeerClosed);
  return (static_cast<unsigned>(flow.wait) & events) != 0;
}

/// Runs the program of a TCP flow that is connected, because it `wakes` or has begun.
/// `template_side`: the flow's class. For the packet's way: always inlined.
Outcome proceed(Context& context, FlowClass& template_side, Flow& flow);

/// Runs the program of a new flow: a client's when it is opened, a server's when its handshake is
/// complete or its first datagram came.
Outcome start(Context& context, FlowClass& template_side, Flow& flow);

/// Goes on after `events` of TCP, or after a datagram (tcp::kDelivered).
Outcome wake(Context& context, Flow& flow, tcp::Events events);

/// Goes on a tick later: the flow it opened (exec_template) has ended.
void resume(Context& context, Flow& flow);

/// Goes on after a delay, or where the watchdog paused it: after 1,000 commands in a row, for a
/// tick. One that neither sends nor receives nor waits in 1,000 such times is endless, and its
/// connection is reset; not one that asks the clock (jmp_dp), which goes on.
Outcome wake_from_delay(Context& context, Flow& flow);

}  // namespace engine::program
