#pragma once
// The times of a client flow, from its intended start on.

#include "flow/context.h"
#include "stats/latency.h"

namespace engine::latency {

/// Clock of Flow::intended_start: 2^10 ns (1.024 us). Its 31 bits wrap after 36 minutes: times
/// longer than that are not told from shorter ones.
inline constexpr unsigned kStartShift = 10;
/// Set in Flow::intended_start once payload has come.
inline constexpr uint32_t kFirstByteSeen = uint32_t{1} << 31;

/// When the flow was due, whatever the time is now.
inline void begin(Flow& flow, Nanoseconds intended) {
  flow.intended_start = static_cast<uint32_t>(intended >> kStartShift) & ~kFirstByteSeen;
}

/// Records the time up to now. Flows of servers have none. `template_side`: the flow's class.
[[gnu::always_inline]] inline void record(const Context& context, const FlowClass& template_side,
                                          const Flow& flow, LatencyKind kind) {
  LatencyBlock* const block = template_side.latency;
  if (block == nullptr) return;
  const auto now = static_cast<uint32_t>(context.now >> kStartShift);
  const uint64_t elapsed = (now - flow.intended_start) & ~kFirstByteSeen;
  (*block)[kind].record(static_cast<uint32_t>((elapsed << kStartShift) / 1000));
}

/// Payload came: records it the first time.
[[gnu::always_inline]] inline void record_payload(const Context& context,
                                                  const FlowClass& template_side, Flow& flow) {
  if (template_side.latency == nullptr || (flow.intended_start & kFirstByteSeen) != 0) return;
  record(context, template_side, flow, LatencyKind::first_byte);
  flow.intended_start |= kFirstByteSeen;
}

}  // namespace engine::latency
