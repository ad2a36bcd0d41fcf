#pragma once
// UDP flows (RFC 768): a 5-tuple, a program, and an idle timer.

#include "flow/context.h"
#include "net/rx_segment.h"

namespace engine::udp {

/// TRex's idle time of a UDP flow until its program sets another.
inline constexpr uint32_t kDefaultIdleMs = 1000;

/// Begins a flow whose identity, class and layer-2 header are set, on either side.
void open(Context& context, Flow& flow);
/// A datagram for `flow` came in: counts it for rx_msg and restarts the idle timer.
void receive(Context& context, Flow& flow, const RxSegment& packet);
/// Sends one buffer as a datagram (tx_msg). Too large for a frame: counted, not sent. False: there
/// was no frame buffer (udps_nombuf), it is to be sent later.
bool send(Context& context, Flow& flow, uint32_t buffer);
/// Sets the idle time (keepalive command).
void set_idle(Context& context, Flow& flow, uint32_t milliseconds, bool receive_only);

}  // namespace engine::udp
