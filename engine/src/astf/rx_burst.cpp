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

/// Where what stands first in a packet's bucket is not its flow, what stands second may be.
[[gnu::noinline]] void prefetch_second(Context& context, const FlowTable& table,
                                       std::span<RxPacket> packets) {
  for (RxPacket& packet : packets) {
    const uint32_t entry = *packet.bucket;
    if (entry == FlowTable::kNone) continue;
    const FlowIdentity& first = table.identity(entry);
    if (first.ports() != std::rotl(packet.ports(), 16))
      packet.flow = context.prefetch(first.table_next);
  }
}

}  // namespace

// In rounds: the buckets of the table have to come first.
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
  if (table.is_large()) [[unlikely]]
    prefetch_second(context, table, {packets_.data(), frames.size()});
  return {packets_.data(), frames.size()};
}

}  // namespace engine
