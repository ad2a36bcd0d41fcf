#pragma once
// The frames of a burst, parsed some at a time, so that a flow's cache lines are on their way
// before it is touched.

#include <array>
#include <span>

#include "flow/context.h"
#include "net/packet.h"
#include "tcp/plain_segment.h"

namespace engine {

/// A received frame.
struct Arrival {
  /// Where what is known of it stands.
  enum class Form : uint8_t {
    plain,          ///< in `segment`, and not yet in `packet`
    syn,            ///< as that; a SYN or SYN-ACK
    unstamped,      ///< plain, without time stamps
    unstamped_syn,  ///< as that; a SYN or SYN-ACK
    other           ///< in `packet`
  };

  PacketKind kind;  ///< where `form` is other
  Form form;
  uint32_t hash;  ///< of the flow table
  const uint32_t* bucket;
  Flow* flow;  ///< what stood first in its bucket when it was parsed, if that was a flow
  tcp::PlainSegment segment;
  Packet packet;

  bool is_tcp() const { return form != Form::other || kind == PacketKind::tcp; }
  bool has_flow() const { return is_tcp() || kind == PacketKind::udp; }
  FlowKey key() const {
    if (form != Form::other)
      return {segment.source(), segment.destination(), segment.source_port(),
              segment.destination_port(), false};
    return {packet.source, packet.destination, packet.source_port, packet.destination_port,
            kind == PacketKind::udp};
  }
  /// Of TCP:
  uint32_t payload_length() const {
    return form != Form::other ? segment.length : packet.payload_length;
  }
  const uint8_t* header() const { return form != Form::other ? segment.header : packet.transport; }
};

class Arrivals {
 public:
  /// Frames that are parsed ahead.
  static constexpr size_t kMost = 32;

  /// Parses `frames`, at most kMost, for flows in `table`. What it returns is valid until the next
  /// call.
  std::span<Arrival> parse(Context& context, const FlowTable& table, std::span<const Frame> frames);

 private:
  std::array<Arrival, kMost> arrivals_;
};

}  // namespace engine
