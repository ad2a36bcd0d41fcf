#pragma once
// The AF_XDP sockets that a driver has open in this process. It does not tell what the kernel
// refused to send from them.

#include <cstdint>
#include <vector>

namespace engine {

/// Descriptors of all that are open, in ascending order.
std::vector<int> xdp_sockets();

/// Frames to send whose descriptors the kernel called invalid (XDP_STATISTICS, if_xdp.h): it takes
/// them from the ring and sends nothing.
uint64_t refused_frames(const std::vector<int>& sockets);

}  // namespace engine
