#include "flow/time_wait.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <vector>

namespace engine {
namespace {

constexpr Tick kLong = 30'518;  // half a second

uint32_t add(TimeWaits& waits, Tick end, uint16_t port) {
  FlowHead flow{};
  flow.state = FlowState::time_wait;
  flow.ports = port;
  const uint32_t number = waits.add(flow, end);
  EXPECT_NE(number, TimeWaits::kNone);
  return number;
}

/// Ports of all records that end by `now`, which are removed.
std::vector<uint16_t> end(TimeWaits& waits, Tick now) {
  std::vector<uint16_t> ports;
  std::array<TimeWaits::Numbered, 16> room;
  for (;;) {
    const std::span<TimeWaits::Numbered> due = waits.due(now, room);
    if (due.empty()) return ports;
    for (const auto& [record, number] : due) {
      EXPECT_EQ(record, &waits[number]);
      ports.push_back(static_cast<uint16_t>(record->ports));
      waits.remove(*record);
    }
  }
}

std::vector<uint16_t> ports(uint16_t first, size_t count) {
  std::vector<uint16_t> all(count);
  std::iota(all.begin(), all.end(), first);
  return all;
}

TEST(TimeWaits, EndInTheirOrderEachAtItsTime) {
  TimeWaits waits(4096);
  for (uint16_t i = 0; i < 1000; ++i) {
    const uint32_t number = add(waits, kLong + i, i);
    EXPECT_EQ(waits.end_of(number), kLong + i);
  }
  EXPECT_TRUE(end(waits, kLong - 1).empty());
  EXPECT_EQ(end(waits, kLong), ports(0, 1));
  EXPECT_EQ(end(waits, kLong + 499), ports(1, 499));
  EXPECT_EQ(waits.in_use(), 500u);
  EXPECT_EQ(end(waits, kLong + 5000), ports(500, 500));
  EXPECT_EQ(waits.in_use(), 0u);
}

TEST(TimeWaits, TimeMayPassBetweenThemAndWrap) {
  TimeWaits waits(4096);
  Tick time = 0xffff'0000;
  for (uint16_t i = 0; i < 20; ++i, time += 40'000) add(waits, time, i);
  EXPECT_EQ(end(waits, time - 40'001), ports(0, 19));
  EXPECT_EQ(end(waits, time - 40'000), ports(19, 1));
}

TEST(TimeWaits, OneTakenOutEarlyDoesNotEnd) {
  TimeWaits waits(64);
  add(waits, kLong, 0);
  const uint32_t gone = add(waits, kLong, 1);
  add(waits, kLong, 2);
  waits.remove(waits[gone]);
  EXPECT_EQ(waits.in_use(), 2u);
  EXPECT_EQ(end(waits, kLong), (std::vector<uint16_t>{0, 2}));
}

TEST(TimeWaits, TouchOneCacheLineEachAndUseMemoryAgain) {
  constexpr uint32_t kFlows = 50'000;
  TimeWaits waits(kFlows);
  for (Tick round = 0; round < 5; ++round) {
    for (uint32_t i = 0; i < kFlows; ++i) add(waits, round * kLong, 0);
    EXPECT_LE(waits.touched_bytes(), size_t{kFlows} * 65 + 32'768);
    EXPECT_EQ(end(waits, round * kLong).size(), kFlows);
  }
}

TEST(TimeWaits, ThoseTakenOutEarlyKeepTheirPlaceUntilTheirTime) {
  constexpr uint32_t kFlows = 1024;
  TimeWaits waits(kFlows);
  uint32_t added = 0;
  for (uint32_t number; (number = waits.add(FlowHead{}, kLong)) != TimeWaits::kNone; ++added)
    waits.remove(waits[number]);
  EXPECT_GE(added, kFlows * 2);
  EXPECT_TRUE(end(waits, kLong).empty());
  add(waits, 2 * kLong, 7);
  EXPECT_EQ(end(waits, 2 * kLong), ports(7, 1));
}

}  // namespace
}  // namespace engine
