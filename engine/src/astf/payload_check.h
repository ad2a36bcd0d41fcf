#pragma once
// Received payload, compared with what the other end's program sends by the same profile.

#include <cstdint>

#include "program/expected_stream.h"
#include "stats/payload_counts.h"

namespace engine {

/// Of one side of one template.
struct PayloadCheck {
  ExpectedStream expected;  ///< from the other side
  uint64_t skip = 0;        ///< bytes at the beginning of each connection that are not compared
  PayloadCounts counts;
};

}  // namespace engine
