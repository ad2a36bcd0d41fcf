#include "flow/ranges.h"

#include <gtest/gtest.h>

#include <random>

namespace engine {
namespace {

TEST(Ranges, AgreeWithASetOfNumbersAlsoAcrossTheWrap) {
  std::mt19937 random(5);
  for (uint32_t base : {0u, 0xffff'ff80u}) {
    std::vector<SequenceRange> ranges;
    std::vector<bool> member(256);
    for (int i = 0; i < 300; ++i) {
      const uint32_t start = random() % 250;
      const uint32_t end = start + 1 + random() % 6;
      const SequenceRange joined = insert_range(ranges, {base + start, base + end});
      EXPECT_LE(joined.start - base, start);
      EXPECT_GE(joined.end - base, end);
      for (uint32_t n = start; n < end; ++n) member[n] = true;
      if (i % 50 == 49) {
        const uint32_t limit = random() % 100;
        remove_before(ranges, base + limit);
        for (uint32_t n = 0; n < limit; ++n) member[n] = false;
      }
      for (size_t r = 1; r < ranges.size(); ++r)
        ASSERT_TRUE(before(ranges[r - 1].end, ranges[r].start)) << "sorted, disjoint, not touching";
      for (uint32_t n = 0; n < 256; ++n)
        ASSERT_EQ(covers(ranges, {base + n, base + n + 1}), member[n]) << n;
    }
  }
}

}  // namespace
}  // namespace engine
