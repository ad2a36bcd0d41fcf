#include "net/l2_header.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace engine {
namespace {

/// Of one of many neighbours, as a range of MAC addresses has them.
L2Header neighbour(uint32_t number) {
  return {{2, 0, static_cast<uint8_t>(number >> 24), static_cast<uint8_t>(number >> 16),
           static_cast<uint8_t>(number >> 8), static_cast<uint8_t>(number)},
          {2, 0, 0, 0, 0, 1},
          {}};
}

TEST(L2HeaderTable, KeepsEachHeaderOnce) {
  L2HeaderTable table(L2Header{});
  const uint16_t first = table.intern(neighbour(1));
  const uint16_t second = table.intern(neighbour(2));
  L2Header tagged = neighbour(1);
  tagged.tags.outer = 7;
  const uint16_t third = table.intern(tagged);
  EXPECT_EQ(table.intern(neighbour(1)), first);
  EXPECT_EQ(table.intern(neighbour(2)), second);
  EXPECT_EQ(table.intern(tagged), third);
  EXPECT_EQ(table[third], tagged);
  EXPECT_NE(first, second);
  EXPECT_NE(first, third);
  EXPECT_NE(first, L2HeaderTable::kPort);
}

TEST(L2HeaderTable, UntaggedHeadersAreHandedOutAsTheyAreNow) {
  L2HeaderTable table(neighbour(0));
  L2Header tagged = neighbour(2);
  tagged.tags.outer = 7;
  const uint16_t other = table.intern(neighbour(1));
  const uint16_t with_tags = table.intern(tagged);
  EXPECT_EQ(*table.untagged(L2HeaderTable::kPort), neighbour(0));
  EXPECT_EQ(table.untagged(with_tags), nullptr);
  table.set_port(neighbour(3));
  EXPECT_EQ(*table.untagged(L2HeaderTable::kPort), neighbour(3));
  EXPECT_EQ(*table.untagged(other), neighbour(1));
  table.set_port(tagged);
  EXPECT_EQ(table.untagged(L2HeaderTable::kPort), nullptr);
}

// A header goes to the front of its bucket, so what a search looks at is what came there since.
TEST(L2HeaderTable, TheLastOfAllItHoldsIsFoundAsTheFirst) {
  constexpr uint32_t kLongestChain = 12;
  L2HeaderTable table(L2Header{});
  std::vector<uint32_t> chains(L2HeaderTable::kBuckets);
  size_t all = 0;
  for (uint32_t i = 0; i < L2HeaderTable::kMost; ++i) {
    ASSERT_EQ(table.intern(neighbour(i)), i + 1);
    all += ++chains[neighbour(i).hash() % chains.size()];
  }
  for (uint32_t i = 0; i < L2HeaderTable::kMost; ++i) ASSERT_EQ(table.intern(neighbour(i)), i + 1);
  EXPECT_LE(*std::ranges::max_element(chains), kLongestChain);
  EXPECT_LE(all, 2 * L2HeaderTable::kMost);
  EXPECT_EQ(table.intern(neighbour(L2HeaderTable::kMost)), L2HeaderTable::kPort);  // full
}

}  // namespace
}  // namespace engine
