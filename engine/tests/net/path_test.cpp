#include "net/path.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace engine {
namespace {

/// Of one of many neighbours, as a range of MAC addresses has them.
Path neighbour(uint32_t number) {
  return {{2, 0, static_cast<uint8_t>(number >> 24), static_cast<uint8_t>(number >> 16),
           static_cast<uint8_t>(number >> 8), static_cast<uint8_t>(number)},
          {2, 0, 0, 0, 0, 1},
          {}};
}

TEST(PathTable, KeepsEachPathOnce) {
  PathTable paths(Path{});
  const uint16_t first = paths.intern(neighbour(1));
  const uint16_t second = paths.intern(neighbour(2));
  Path tagged = neighbour(1);
  tagged.tags.outer = 7;
  const uint16_t third = paths.intern(tagged);
  EXPECT_EQ(paths.intern(neighbour(1)), first);
  EXPECT_EQ(paths.intern(neighbour(2)), second);
  EXPECT_EQ(paths.intern(tagged), third);
  EXPECT_EQ(paths[third], tagged);
  EXPECT_NE(first, second);
  EXPECT_NE(first, third);
  EXPECT_NE(first, PathTable::kPort);
}

TEST(PathTable, TheLastOfAllItHoldsIsFoundAsTheFirst) {
  constexpr size_t kLongestChain = 12;
  PathTable paths(Path{});
  size_t most = 0;
  size_t all = 0;
  for (uint32_t i = 0; i < PathTable::kMost; ++i) {
    most = std::max(most, paths.probes(neighbour(i)));
    ASSERT_EQ(paths.intern(neighbour(i)), i + 1);
  }
  for (uint32_t i = 0; i < PathTable::kMost; ++i) {
    const size_t probes = paths.probes(neighbour(i));
    most = std::max(most, probes);
    all += probes;
    ASSERT_EQ(paths.intern(neighbour(i)), i + 1);
  }
  EXPECT_LE(most, kLongestChain);
  EXPECT_LE(all, 2 * PathTable::kMost);
  EXPECT_EQ(paths.intern(neighbour(PathTable::kMost)), PathTable::kPort);  // full
  EXPECT_LE(paths.probes(neighbour(PathTable::kMost)), kLongestChain);
}

}  // namespace
}  // namespace engine
