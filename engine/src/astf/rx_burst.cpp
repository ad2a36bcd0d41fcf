#include "astf/rx_burst.h"

namespace engine {

namespace {

/// The bucket of a frame that is of no flow.
constexpr uint32_t kNoEntry = FlowTable::kNone;

/// A frame that is not as most are. A function by itself, so that the others' loop keeps
/// what it needs in registers.
[[gnu::noinline]] void parse_unusual(const FlowTable& table, const Frame& frame, RxPacket& packet) {
  parse(frame, packet);
  packet.hash = 0;
  packet.bucket = &kNoEntry;
  if (packet.kind != PacketKind::tcp && packet.kind != PacketKind::udp) return;
  packet.hash = table.hash(packet.key());
  if (packet.follows_addresses()) packet.bucket = table.bucket(packet.hash);
}

}  // namespace

// In two rounds: the buckets of the table have to come first.
[[gnu::noinline]] std::span<RxPacket> RxBurst::parse(Context& context, const FlowTable& table,
                                                     std::span<const Frame> frames) {
  RxPacket* end = packets_.data();
  for (const Frame& frame : frames) {
    RxPacket& packet = *end++;
    if (parse_usual(frame, packet)) [[likely]] {
      packet.hash = table.hash_v4(load_be<uint64_t>(packet.header - 8), packet.ports(), false);
      packet.bucket = table.bucket(packet.hash);
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
