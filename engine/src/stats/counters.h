#pragma once
// Counters of one side of one template group on one data core.

#include <array>
#include <cstddef>
#include <cstdint>

namespace engine {

/// What the data path counts; names are TRex's. Ids on the wire follow from stats/counters.def.
enum class Counter : uint8_t {
#define BAR(caption)
#define GAUGE(name, units, shown, help)
#define COUNTER(name, severity, help) name,
#define INTERNAL(name) name,
#include "stats/counters.def"
#undef INTERNAL
#undef BAR
#undef GAUGE
#undef COUNTER
  count
};

inline constexpr size_t kCounterCount = static_cast<size_t>(Counter::count);

/// A block of counters. Owned and written by one data core alone; copied by that core for readers.
struct CounterBlock {
  std::array<uint64_t, kCounterCount> values{};

  uint64_t& operator[](Counter counter) { return values[static_cast<size_t>(counter)]; }
  uint64_t operator[](Counter counter) const { return values[static_cast<size_t>(counter)]; }

  CounterBlock& operator+=(const CounterBlock& other) {
    for (size_t i = 0; i < kCounterCount; ++i) values[i] += other.values[i];
    return *this;
  }
};

}  // namespace engine
