#pragma once
// Counters of runs and of the flow table, read together.

#include <array>
#include <vector>

#include "base/side.h"
#include "stats/counters.h"

namespace engine {

/// Of both sides, by template group; 0: no group.
using GroupCounters = std::array<std::vector<CounterBlock>, kSides>;

/// Adds what another core has, element by element.
template <typename Element>
void add(std::vector<Element>& to, const std::vector<Element>& what) {
  if (to.size() < what.size()) to.resize(what.size());
  for (size_t i = 0; i < what.size(); ++i) to[i] += what[i];
}

/// Counters of several runs, and of the flow table since the engine's start, at one moment.
struct CounterReading {
  std::vector<GroupCounters> runs;  ///< in the order they were asked for
  std::array<CounterBlock, kSides> table;

  /// Those of another core.
  CounterReading& operator+=(const CounterReading& other);
};

/// Counters of one run, or of several together, and of the flow table, at one moment.
struct RunCounters {
  GroupCounters groups;
  std::array<CounterBlock, kSides> table;  ///< since the engine's start

  /// Sum over groups, without the flow table.
  CounterBlock sum(Side side) const;
};

}  // namespace engine
