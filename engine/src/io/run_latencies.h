#pragma once
// How long the client flows of a run took, on all its data cores.

#include <vector>

#include "astf/run.h"
#include "io/core_jobs.h"

namespace engine {

/// Sums over `threads` of their `parts` of a run, by template. Each histogram is read in a turn of
/// the cores' loops of its own, since a run may have thousands: ports are polled between.
template <typename Threads>
std::vector<LatencyBlock> read_latencies(const Threads& threads,
                                         const std::vector<ProfileRun*>& parts) {
  std::vector<LatencyBlock> sum(parts.front()->latencies().size());
  for (size_t t = 0; t < sum.size(); ++t)
    for (size_t kind = 0; kind < kLatencyKinds; ++kind)
      sum[t].kinds[kind] = sum_of(on_cores(
          threads, [&](size_t number, DataThread&, DataCore&, Nanoseconds) -> const auto& {
            return parts[number]->latencies()[t].kinds[kind];
          }));
  return sum;
}

}  // namespace engine
