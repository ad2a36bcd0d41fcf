#include "astf/arrivals.h"

#include "net/usual_packet.h"

namespace engine {

// In two rounds: the buckets of the table have to come first. A function by itself, so that its
// loops keep what they need in registers.
[[gnu::noinline]] std::span<Arrival> Arrivals::parse(const Context& context, const FlowTable& table,
                                                     std::span<const Frame> frames) {
  const uint32_t* buckets[kMost];
  Arrival* end = arrivals_.data();
  const uint32_t** next = buckets;
  for (const Frame& frame : frames) {
    Arrival& arrival = *end++;
    if (frame.checksums == Checksums::trusted && parse_usual(frame, arrival.packet)) [[likely]] {
      arrival.kind = PacketKind::tcp;
      arrival.hash = table.hash(arrival.key());
    } else {
      arrival.kind = parse_packet(frame, arrival.packet);
      if (!arrival.has_flow()) continue;
      arrival.hash = table.hash(arrival.key());
    }
    *next = table.bucket(arrival.hash);
    __builtin_prefetch(*next++);
  }
  next = buckets;
  for (Arrival* arrival = arrivals_.data(); arrival != end; ++arrival)
    if (arrival->has_flow()) context.prefetch(arrival->entry = **next++);
  return {arrivals_.data(), frames.size()};
}

}  // namespace engine
