#pragma once
// Ports on packet sockets: an interface's frames as the kernel's own stack sees them.

#include "io/port.h"

namespace engine {

/// Opens `interface` by a packet socket for each of `cores` (packet(7); the kernel's
/// Documentation/networking/packet_mmap.rst). Between two kernels' stacks frames stay what they
/// are there: checksums not computed, TCP payload of up to 64 KB in one frame, not cut and not put
/// together again. Throws ConfigError.
std::unique_ptr<Port> open_packet_socket_port(const std::string& interface, uint32_t cores);

}  // namespace engine
