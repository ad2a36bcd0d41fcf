#pragma once
// get_port_status: a port's state and attributes in the shape clients expect.

#include "rpc/control_state.h"

namespace engine {

/// `attr` of get_port_status.
Json port_attributes(const ControlState& state, uint32_t port);
Json port_status(const ControlState& state, uint32_t port);

}  // namespace engine
