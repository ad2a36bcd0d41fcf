#pragma once
// Routers' messages about the path's MTU that were believed.

#include <algorithm>
#include <cstdint>

namespace engine {

/// Counts of one port on one data core, written by that core alone. Refused ones are in
/// Drop::path_mtu_refused.
struct PathMtuCounts {
  uint64_t accepted = 0;  ///< also those that told again what was known
  uint32_t least = 0;     ///< the smallest MTU that was accepted, bytes; 0: none was

  void add(uint32_t mtu) {
    ++accepted;
    least = least == 0 ? mtu : std::min(least, mtu);
  }
};

}  // namespace engine
