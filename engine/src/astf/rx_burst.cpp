#include "astf/rx_burst.h"

namespace engine {

namespace {

/// The bucket of a frame that is of no flow.
constexpr uint32_t kNoEntry = FlowTable::kNone;

/// A frame that is not as most are. A function by itself, so that the others' loop keeps
/// what it needs in registers.
[[gnu::noinline]] void parse_unusual(const FlowTable& table, const Frame& frame, RxPacket& packet) {
  parse(frame, packet);
  packet.bucket = &kNoEntry;
  if (packet.kind != PacketKind::tcp && packet.kind != PacketKind::udp) return;
  packet.key = table.key(packet.source(), packet.destination(), packet.source_port(),
                         packet.destination_port(), packet.kind == PacketKind::udp);
  // A key over IPv6 does not tell its flow by itself.
  if (!packet.key.ipv6()) packet.bucket = table.bucket(packet.key.hash);
}

}  // namespace

// In rounds: the buckets of the table have to come first.
[[gnu::noinline]] std::span<RxPacket> RxBurst::parse(Context& context, const FlowTable& table,
                                                     std::span<const Frame> frames) {
  RxPacket* end = packets_.data();
  for (const Frame& frame : frames) {
    RxPacket& packet = *end++;
    if (parse_usual(frame, packet)) [[likely]] {
      uint64_t addresses;
      std::memcpy(&addresses, packet.header - sizeof addresses, sizeof addresses);
      packet.key = table.key_v4(addresses, packet.ports());
      packet.bucket = table.bucket(packet.key.hash);
    } else {
      parse_unusual(table, frame, packet);
    }
    __builtin_prefetch(packet.bucket);
  }
  for (RxPacket* packet = packets_.data(); packet != end; ++packet)
    packet->flow = context.prefetch(*packet->bucket);
  return {packets_.data(), frames.size()};
}

}  // namespace engine
