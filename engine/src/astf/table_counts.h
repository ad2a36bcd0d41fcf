#pragma once
// What a data core counts that belongs to no template.

#include <array>

#include "base/side.h"
#include "stats/counters.h"
#include "stats/drops.h"
#include "stats/path_mtu.h"

namespace engine {

/// By side.
struct TableCounts {
  std::array<CounterBlock, kSides> counters;  ///< of the flow table, shared by all runs
  std::array<Drops, kSides> drops;            ///< those that `counters` does not count
  std::array<PathMtuCounts, kSides> path_mtu;

  CounterBlock& of(Side side) { return counters[index_of(side)]; }
  Drops& dropped(Side side) { return drops[index_of(side)]; }
};

}  // namespace engine
