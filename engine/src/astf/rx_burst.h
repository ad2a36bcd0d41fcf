#pragma once
// The frames of a burst, parsed some at a time, so that a flow's cache lines are on their way
// before it is touched.

#include <array>
#include <bit>
#include <span>

#include "flow/context.h"
#include "net/rx_segment.h"

namespace engine {

/// A received packet, and where its flow is looked up.
struct RxPacket : RxSegment {
  uint32_t hash;           ///< of the flow table; of TCP and UDP
  const uint32_t* bucket;  ///< where the flow table begins to search, or an empty one
  Flow* flow;              ///< that it is likely of, from its bucket when it was parsed; or nullptr

  /// Whether `flow` has these addresses and ports; only of a packet with a `flow`, whose header
  /// follows its addresses.
  bool is_for(const FlowIdentity& flow) const {
    // The remote's whole low half: flows over IPv6 may end in the same 32 bits, all ASTF varies.
    return flow.remote.low == IpAddress::v4(load_be<uint32_t>(header - 8)).low &&
           flow.local.low32() == load_be<uint32_t>(header - 4) &&
           flow.ports() == std::rotl(ports(), 16);
  }
  FlowKey key() const {
    return {source(), destination(), source_port(), destination_port(), kind == PacketKind::udp};
  }
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
