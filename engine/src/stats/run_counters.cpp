#include "stats/run_counters.h"

namespace engine {

CounterBlock RunCounters::sum(Side side) const {
  CounterBlock sum;
  for (const CounterBlock& group : groups[index_of(side)]) sum += group;
  return sum;
}

CounterReading& CounterReading::operator+=(const CounterReading& other) {
  if (runs.size() < other.runs.size()) runs.resize(other.runs.size());
  for (size_t side = 0; side < kSides; ++side) {
    for (size_t run = 0; run < other.runs.size(); ++run)
      add(runs[run][side], other.runs[run][side]);
    table[side] += other.table[side];
  }
  return *this;
}

}  // namespace engine
