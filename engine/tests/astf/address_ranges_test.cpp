#include "astf/address_ranges.h"

#include <gtest/gtest.h>

#include <bitset>
#include <random>

namespace engine {
namespace {

using Ranges = std::map<uint32_t, uint32_t>;

TEST(AddressRanges, NeighboursBecomeOneRange) {
  AddressRanges set;
  set.add(10, 19);
  set.add(30, 39);
  EXPECT_EQ(set.ranges(), (Ranges{{10, 19}, {30, 39}}));
  set.add(20, 29);
  EXPECT_EQ(set.ranges(), (Ranges{{10, 39}}));
  set.remove(15, 15);
  EXPECT_EQ(set.ranges(), (Ranges{{10, 14}, {16, 39}}));
  EXPECT_EQ(set.first_outside(10), 15u);
  EXPECT_EQ(set.first_outside(15), 15u);
  EXPECT_EQ(set.first_outside(16), 40u);
}

TEST(AddressRanges, TheWholeSpaceFits) {
  AddressRanges set;
  set.add(0, UINT32_MAX);
  EXPECT_TRUE(set.has(0) && set.has(UINT32_MAX));
  EXPECT_EQ(set.first_outside(7), std::nullopt);
  set.remove(0, 0);
  set.remove(UINT32_MAX, UINT32_MAX);
  EXPECT_EQ(set.ranges(), (Ranges{{1, UINT32_MAX - 1}}));
  EXPECT_EQ(set.first_outside(1), UINT32_MAX);
  set.keep(AddressRanges{});
  EXPECT_TRUE(set.empty());
}

TEST(AddressRanges, IsTheSetThatABitsetIs) {
  constexpr size_t kAddresses = 200;
  std::mt19937 random(7);
  AddressRanges set;
  std::bitset<kAddresses> expected;
  for (int step = 0; step < 5'000; ++step) {
    uint32_t first = random() % kAddresses;
    uint32_t last = std::min<uint32_t>(first + random() % 20, kAddresses - 1);
    AddressRanges others;
    if (step % 50 == 0) others.add(first, last);
    for (uint32_t address = 0; address < kAddresses; ++address) {
      const bool inside = address >= first && address <= last;
      if (step % 50 == 0)
        expected[address] = expected[address] && inside;
      else if (inside)
        expected[address] = step % 2 == 1;
    }
    if (step % 50 == 0)
      set.keep(others);
    else
      step % 2 == 1 ? set.add(first, last) : set.remove(first, last);
    uint32_t outside = kAddresses;
    for (uint32_t address = kAddresses; address-- > 0;) {
      if (!expected[address]) outside = address;
      ASSERT_EQ(set.has(address), expected[address]) << step << " " << address;
      ASSERT_EQ(set.first_outside(address), outside) << step << " " << address;
    }
    std::optional<uint32_t> end;
    for (const auto& [begin, last_one] : set.ranges()) {
      if (end) {
        ASSERT_GT(begin, *end + 1);
      }
      end = last_one;
    }
  }
}

}  // namespace
}  // namespace engine
