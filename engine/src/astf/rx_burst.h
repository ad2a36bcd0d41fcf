#pragma once
// The frames of a burst, parsed some at a time, so that a flow's cache lines are on their way
// before it is touched.

#include <array>
#include <span>

#include "flow/context.h"
#include "net/rx_segment.h"

namespace engine {

/// A received packet, and where its flow is looked up.
struct RxPacket : RxSegment {
  FlowKey key;             ///< of its flow; of TCP and UDP
  const uint32_t* bucket;  ///< where the flow table begins to search, or an empty one
  Flow* flow;              ///< that it is likely of, from its bucket when it was parsed; or nullptr
};

class RxBurst {
 public:
  /// Frames that are parsed ahead.
  static constexpr size_t kMost = 32;

  /// Parses `frames`, at most kMost, for flows in `table`. What it returns is valid until the next
  /// call.
  std::span<RxPacket> parse(Context& context, const FlowTable& table,
                            std::span<const Frame> frames);

 private:
  std::array<RxPacket, kMost> packets_;
};

}  // namespace engine
