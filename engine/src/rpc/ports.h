#pragma once
// What clients are told of ports.

#include "json/json_text.h"

namespace engine {

struct ControlState;

/// `attr` of get_port_status.
Json port_attributes(const ControlState& state, uint32_t port);
Json port_status(const ControlState& state, uint32_t port);

}  // namespace engine
