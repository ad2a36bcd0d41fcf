#pragma once
// Sorted, disjoint sets of sequence ranges: reassembly and the SACK scoreboard.

#include <cstdint>
#include <vector>

#include "flow/extension.h"
#include "flow/flow.h"

namespace engine {

/// Adds `range`, joined with all it touches. Returns the range it is part of afterwards.
SequenceRange insert_range(std::vector<SequenceRange>& ranges, SequenceRange range);

/// Whether every number of `range` is in the set.
bool covers(const std::vector<SequenceRange>& ranges, SequenceRange range);

/// Removes all numbers before `limit`.
void remove_before(std::vector<SequenceRange>& ranges, uint32_t limit);

}  // namespace engine
