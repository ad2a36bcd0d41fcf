#include "tls/sealed_buffers.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace engine::tls {
namespace {

constexpr int64_t kBudget = 10 * SealedBuffers::kLarge;

std::vector<uint8_t> bytes(size_t length, uint8_t first) {
  std::vector<uint8_t> made(length);
  for (size_t i = 0; i < length; ++i) made[i] = static_cast<uint8_t>(first + i * 7);
  return made;
}

TEST(SealedBuffers, KeepsWhatItIsGivenWithItsChecksum) {
  SealedBuffers sealed(kBudget);
  for (const size_t length : {size_t{1}, size_t{2000}, size_t{SealedBuffers::kLarge}}) {
    const std::vector<uint8_t> wanted = bytes(length, 3);
    const Buffer& buffer = sealed.all()[sealed.keep(wanted, 0)];
    ASSERT_EQ(buffer.size(), length);
    EXPECT_TRUE(std::equal(wanted.begin(), wanted.end(), buffer.at(0, buffer.size())));
    EXPECT_EQ(checksum_fold(buffer.sum(0, buffer.size())),
              checksum_fold(checksum_add(0, wanted.data(), length)));
  }
  EXPECT_EQ(sealed.in_use(), 3u);
}

TEST(SealedBuffers, UsesABufferAgainOnceItHasRested) {
  SealedBuffers sealed(kBudget);
  const uint32_t first = sealed.keep(bytes(100, 1), 0);
  sealed.release(first, 0);
  const uint32_t second = sealed.keep(bytes(100, 2), 10 * kMicrosecond);
  EXPECT_NE(second, first);
  EXPECT_EQ(sealed.keep(bytes(100, 3), 2 * kMillisecond), first);
}

TEST(SealedBuffers, HasRoomForItsBudgetAndNoMore) {
  SealedBuffers sealed(kBudget);
  EXPECT_TRUE(sealed.has_room(10));
  EXPECT_FALSE(sealed.has_room(11));
  std::vector<uint32_t> kept;
  for (int i = 0; i < 10; ++i) kept.push_back(sealed.keep(bytes(5000, 0), 0));
  EXPECT_FALSE(sealed.has_room(1));
  EXPECT_EQ(sealed.held_bytes(), uint64_t{kBudget});
  sealed.release(kept.front(), 0);
  EXPECT_TRUE(sealed.has_room(1));
  // Rested or not: there is no other.
  EXPECT_EQ(sealed.keep(bytes(5000, 0), 0), kept.front());
}

/// What buffers of one size took is no loss for the other once they are free.
TEST(SealedBuffers, HasRoomAgainOnceAllAreReleasedWhateverTheirSize) {
  constexpr size_t kForty = 40 * SealedBuffers::kSmall;
  constexpr size_t kLongest[] = {SealedBuffers::kSmall, SealedBuffers::kLarge};
  for (const size_t first : kLongest) {
    SCOPED_TRACE(first);
    SealedBuffers sealed(int64_t{kForty});
    for (int round = 0; round < 3; ++round) {
      for (const size_t length : {first, kLongest[0] + kLongest[1] - first}) {
        std::vector<uint32_t> kept;
        while (sealed.has_room(1)) kept.push_back(sealed.keep(bytes(length, 0), 0));
        EXPECT_EQ(kept.size(), kForty / length);
        for (const uint32_t number : kept) sealed.release(number, 0);
        EXPECT_TRUE(sealed.has_room(2));
      }
    }
    EXPECT_LE(sealed.held_bytes(), 2 * kForty);
  }
}

TEST(SealedBuffers, WhatHasToLeaveOverdrawsTheBudget) {
  SealedBuffers sealed(SealedBuffers::kSmall);
  sealed.keep(bytes(10, 0), 0);
  EXPECT_EQ(sealed.all()[sealed.keep(bytes(10, 5), 0)].size(), 10u);
  EXPECT_FALSE(sealed.has_room(1));
}

}  // namespace
}  // namespace engine::tls
