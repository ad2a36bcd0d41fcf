#pragma once
// What comparing received payload with the profile found.

#include <array>
#include <cstdint>

#include "base/side.h"

namespace engine {

/// Of one side of one template, since the run's start.
struct PayloadCounts {
  uint64_t compared_bytes = 0;
  uint64_t mismatched_bytes = 0;  ///< of those, other than what the peer's program sends
  uint64_t unknown_bytes = 0;     ///< received, but nothing to compare them with
  uint64_t mismatched_flows = 0;  ///< with a mismatched byte

  PayloadCounts& operator+=(const PayloadCounts& other) {
    compared_bytes += other.compared_bytes;
    mismatched_bytes += other.mismatched_bytes;
    unknown_bytes += other.unknown_bytes;
    mismatched_flows += other.mismatched_flows;
    return *this;
  }
};

/// Of one template, by the side that received.
struct PayloadBlock {
  std::array<PayloadCounts, kSides> sides;

  PayloadBlock& operator+=(const PayloadBlock& other) {
    for (size_t side = 0; side < kSides; ++side) sides[side] += other.sides[side];
    return *this;
  }
};

}  // namespace engine
