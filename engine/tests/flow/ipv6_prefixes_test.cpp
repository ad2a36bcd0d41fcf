#include "flow/ipv6_prefixes.h"

#include <gtest/gtest.h>

#include <vector>

namespace engine {
namespace {

constexpr IpAddress kLocal{0x2001'0db8'0000'0000, 0x0000'0001'1000'0000};

IpAddress remote(uint64_t network) {
  return {0x2001'0db8'0000'0000 + network, 0x0000'0002'3000'0000};
}

TEST(Ipv6Prefixes, ConnectionsOfAPairShareIt) {
  Ipv6Prefixes prefixes(1000);
  std::vector<uint32_t> numbers;
  for (uint64_t i = 0; i < 1000; ++i) {
    IpAddress low = remote(i % 2);
    low.low += i;
    numbers.push_back(prefixes.take(low, kLocal));
  }
  EXPECT_EQ(prefixes.in_use(), 2u);
  EXPECT_EQ(prefixes.touched_bytes(), 2 * Ipv6Prefixes::kBytes);
  EXPECT_TRUE(prefixes.are_of(numbers[1], remote(1), kLocal));
  EXPECT_FALSE(prefixes.are_of(numbers[1], remote(0), kLocal));
  EXPECT_FALSE(prefixes.are_of(numbers[1], kLocal, remote(1)));
  EXPECT_EQ(prefixes.remote(numbers[1], 7), (IpAddress{remote(1).high, 0x0000'0002'0000'0007}));
  EXPECT_EQ(prefixes.local(numbers[1], 7), (IpAddress{kLocal.high, 0x0000'0001'0000'0007}));
  for (const uint32_t number : numbers) prefixes.give_back(number);
  EXPECT_EQ(prefixes.in_use(), 0u);
}

/// A peer chooses its addresses: each connection's may have a prefix of its own.
TEST(Ipv6Prefixes, ThereIsOneForEveryFlow) {
  constexpr uint32_t kFlows = 10'000;
  Ipv6Prefixes prefixes(kFlows);
  for (int again = 0; again < 2; ++again) {
    std::vector<uint32_t> numbers;
    for (uint64_t i = 0; i < kFlows; ++i) numbers.push_back(prefixes.take(remote(i), kLocal));
    EXPECT_EQ(prefixes.in_use(), kFlows);
    for (uint64_t i = 0; i < kFlows; ++i) {
      ASSERT_TRUE(prefixes.are_of(numbers[i], remote(i), kLocal));
      prefixes.give_back(numbers[i]);
    }
  }
  EXPECT_EQ(prefixes.touched_bytes(), kFlows * Ipv6Prefixes::kBytes);
}

TEST(Ipv6Prefixes, OneThatWasGivenBackIsNotShared) {
  Ipv6Prefixes prefixes(2);
  prefixes.give_back(prefixes.take(remote(1), kLocal));
  const uint32_t one = prefixes.take(remote(1), kLocal);
  EXPECT_EQ(prefixes.in_use(), 1u);
  const uint32_t other = prefixes.take(remote(2), kLocal);
  EXPECT_NE(one, other);
  EXPECT_TRUE(prefixes.are_of(one, remote(1), kLocal));
  EXPECT_TRUE(prefixes.are_of(other, remote(2), kLocal));
}

}  // namespace
}  // namespace engine
