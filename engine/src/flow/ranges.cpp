#include "flow/ranges.h"

#include <algorithm>

namespace engine {

SequenceRange insert_range(std::vector<SequenceRange>& ranges, SequenceRange range) {
  auto first = std::find_if(ranges.begin(), ranges.end(), [&](const SequenceRange& other) {
    return !before(other.end, range.start);
  });
  auto last = first;
  while (last != ranges.end() && !after(last->start, range.end)) {
    if (before(last->start, range.start)) range.start = last->start;
    if (after(last->end, range.end)) range.end = last->end;
    ++last;
  }
  if (first == last) {
    ranges.insert(first, range);
  } else {
    *first = range;
    ranges.erase(first + 1, last);
  }
  return range;
}

bool covers(const std::vector<SequenceRange>& ranges, SequenceRange range) {
  return std::any_of(ranges.begin(), ranges.end(), [&](const SequenceRange& other) {
    return !before(range.start, other.start) && !after(range.end, other.end);
  });
}

void remove_before(std::vector<SequenceRange>& ranges, uint32_t limit) {
  auto keep = ranges.begin();
  while (keep != ranges.end() && !after(keep->end, limit)) ++keep;
  ranges.erase(ranges.begin(), keep);
  if (!ranges.empty() && before(ranges.front().start, limit)) ranges.front().start = limit;
}

}  // namespace engine
