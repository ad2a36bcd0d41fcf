#include "rpc/sessions.h"

#include <gtest/gtest.h>

namespace engine {
namespace {

std::vector<uint64_t> sequences(const Json& events) {
  std::vector<uint64_t> list;
  for (const Json& event : events) list.push_back(event["seq"]);
  return list;
}

class SessionsTest : public ::testing::Test {
 protected:
  void publish(double now) { subscribers_.publish(Event::state, {{"state", 1}}, now); }

  RpcSubscribers subscribers_;
};

TEST_F(SessionsTest, KeepsEventsFromAcquireOn) {
  publish(0);
  subscribers_.acquire(7, 0);
  publish(1);
  publish(1);
  const Json events = subscribers_.take(7, 1);
  EXPECT_EQ(sequences(events), (std::vector<uint64_t>{0, 1}));
  EXPECT_EQ(events[0]["name"], "trex-event");
  EXPECT_EQ(events[0]["type"], 50);
  EXPECT_EQ(events[0]["data"]["state"], 1);
  EXPECT_TRUE(subscribers_.take(7, 1).empty());
}

TEST_F(SessionsTest, MakesAReaderOfWhoeverAsks) {
  EXPECT_TRUE(subscribers_.take(9, 0).empty());
  publish(1);
  EXPECT_EQ(sequences(subscribers_.take(9, 1)), std::vector<uint64_t>{0});
}

TEST_F(SessionsTest, NumbersEachSessionAlone) {
  subscribers_.acquire(1, 0);
  publish(0);
  subscribers_.take(2, 0);
  publish(0);
  EXPECT_EQ(sequences(subscribers_.take(1, 0)), (std::vector<uint64_t>{0, 1}));
  EXPECT_EQ(sequences(subscribers_.take(2, 0)), std::vector<uint64_t>{0});
}

TEST_F(SessionsTest, LeavesNoGapInNumbersWhenTheOwnerStopsAsking) {
  subscribers_.acquire(1, 0);
  publish(1);
  publish(RpcSubscribers::kPatience + 1);  // dropped before it got a number
  EXPECT_EQ(sequences(subscribers_.take(1, 20)), std::vector<uint64_t>{0});
  publish(20);
  EXPECT_EQ(sequences(subscribers_.take(1, 20)), std::vector<uint64_t>{1});
}

TEST_F(SessionsTest, GoesOnCountingForAnOwnerThatWasQuietWithNothingToRead) {
  subscribers_.acquire(1, 0);
  publish(100);
  EXPECT_EQ(sequences(subscribers_.take(1, 101)), std::vector<uint64_t>{0});
}

TEST_F(SessionsTest, ForgetsReadersThatStopAsking) {
  subscribers_.acquire(1, 0);
  publish(0);
  subscribers_.take(1, 0);
  subscribers_.release(1);
  publish(1);
  publish(RpcSubscribers::kPatience + 2);  // forgotten now
  subscribers_.take(1, 30);                // a new reader, from 0 again
  publish(31);
  EXPECT_EQ(sequences(subscribers_.take(1, 31)), std::vector<uint64_t>{0});
}

TEST_F(SessionsTest, HoldsALimitedNumberAndNeverForgetsTheOwner) {
  subscribers_.acquire(-1, 0);
  publish(0);
  for (int64_t reader = 0; reader < 3 * static_cast<int64_t>(RpcSubscribers::kMaxSubscribers);
       ++reader)
    subscribers_.take(reader, 1);
  EXPECT_EQ(sequences(subscribers_.take(-1, 1)), std::vector<uint64_t>{0});
}

TEST_F(SessionsTest, WhatAnAnswerHasNoRoomForIsToldByTheNext) {
  subscribers_.acquire(1, 0);
  for (int i = 0; i < 3; ++i) publish(0);
  const size_t one = dump_json(subscribers_.take(1, 0, 120)).size();
  EXPECT_LE(one, 122u);
  EXPECT_EQ(sequences(subscribers_.take(1, 0, 10)), std::vector<uint64_t>{});
  EXPECT_EQ(sequences(subscribers_.take(1, 0)), (std::vector<uint64_t>{1, 2}));
}

TEST_F(SessionsTest, ASessionThatDoesNotAskHoldsALimitedNumberWithoutAGap) {
  subscribers_.acquire(1, 0);
  for (size_t i = 0; i < RpcSubscribers::kMostEvents + 5; ++i) publish(0);
  const auto kept = sequences(subscribers_.take(1, 0));
  ASSERT_EQ(kept.size(), RpcSubscribers::kMostEvents);
  EXPECT_EQ(kept.back(), RpcSubscribers::kMostEvents - 1);
  publish(0);
  EXPECT_EQ(sequences(subscribers_.take(1, 0)), std::vector<uint64_t>{RpcSubscribers::kMostEvents});
}

TEST_F(SessionsTest, RingsOncePerNews) {
  EXPECT_FALSE(subscribers_.take_doorbell());
  publish(0);
  EXPECT_TRUE(subscribers_.take_doorbell());
  EXPECT_FALSE(subscribers_.take_doorbell());
  subscribers_.ring();
  EXPECT_TRUE(subscribers_.take_doorbell());
}

TEST_F(SessionsTest, KnowsWhoHasCollected) {
  EXPECT_TRUE(subscribers_.owner_delivered());
  subscribers_.acquire(1, 0);
  subscribers_.take(2, 0);
  publish(0);
  EXPECT_FALSE(subscribers_.owner_delivered());
  subscribers_.take(1, 0);
  EXPECT_TRUE(subscribers_.owner_delivered());
  EXPECT_FALSE(subscribers_.all_delivered());
  subscribers_.take(2, 0);
  EXPECT_TRUE(subscribers_.all_delivered());
}

}  // namespace
}  // namespace engine
