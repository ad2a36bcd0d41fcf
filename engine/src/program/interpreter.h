#pragma once
// Runs a flow's program: what the two ends of a connection say to each other.

#include "flow/context.h"
#include "tcp/tcp.h"

namespace engine::program {

/// What becomes of the flow after its program ran.
enum class Outcome : uint8_t {
  goes_on,
  release,  ///< the program ended it (UDP end, close_msg, reset): release the flow
};

/// Starts the program of a new flow: a client's when it is opened, a server's when it is accepted
/// or its first datagram came. `received`: bytes or datagrams that came with that.
Outcome start(Context& context, Flow& flow, uint64_t received);

/// Goes on after `events` of TCP, or after a datagram (tcp::kDelivered).
Outcome wake(Context& context, Flow& flow, tcp::Events events);

/// Goes on a tick later: the flow it opened (exec_template) has ended.
void resume(Context& context, Flow& flow);

/// Goes on after a delay.
Outcome wake_from_delay(Context& context, Flow& flow);

}  // namespace engine::program
