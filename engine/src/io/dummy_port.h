#pragma once
// The port of a side that is not used: takes every frame, delivers none.

#include "io/port.h"

namespace engine {

/// `port`: its number; `cores`: data cores that serve it.
std::unique_ptr<Port> make_dummy_port(uint32_t port, uint32_t cores);

}  // namespace engine
