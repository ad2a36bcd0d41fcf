#pragma once
// The frames of a burst, parsed some at a time, so that a flow's cache lines are on their way
// before it is touched.

#include <array>
#include <span>

#include "flow/context.h"
#include "net/packet.h"

namespace engine {

/// A received frame.
struct Arrival {
  PacketKind kind;
  uint32_t hash;   ///< of the flow table, by `packet`
  uint32_t entry;  ///< what stood first in its bucket when it was parsed
  Packet packet;

  bool has_flow() const { return kind == PacketKind::tcp || kind == PacketKind::udp; }
  /// Whether a TCP flow, which may have ended since it was in the table, is the one that `side` has
  /// for this frame.
  bool is_for(const Flow& flow, Side side) const {
    return flow.remote_port == packet.source_port && flow.local_port == packet.destination_port &&
           flow.remote == packet.source && flow.local == packet.destination &&
           flow.state >= FlowState::syn_sent && Context::side_of(flow) == side;
  }
  FlowKey key() const {
    return {packet.source, packet.destination, packet.source_port, packet.destination_port,
            kind == PacketKind::udp};
  }
};

class Arrivals {
 public:
  /// Frames that are parsed ahead.
  static constexpr size_t kMost = 16;

  /// Parses `frames`, at most kMost, for flows in `table`. What it returns is valid until the next
  /// call.
  std::span<Arrival> parse(const Context& context, const FlowTable& table,
                           std::span<const Frame> frames);

 private:
  std::array<Arrival, kMost> arrivals_;
};

}  // namespace engine
