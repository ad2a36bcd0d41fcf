#include "astf/schedule.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

namespace engine {
namespace {

constexpr Nanoseconds kNever = INT64_MAX;
constexpr Nanoseconds kFar = INT64_MAX / 2;  ///< later than any start of interest

/// Takes all starts due at `now`; returns the intended times.
std::vector<Nanoseconds> take_all(Schedule& schedule, Nanoseconds now) {
  std::vector<Nanoseconds> times;
  Nanoseconds intended = 0;
  while (schedule.take(now, intended)) times.push_back(intended);
  return times;
}

TEST(Schedule, SpacesStartsEvenly) {
  Schedule schedule(110 * kMillisecond, 1000, 0, kNever);
  EXPECT_TRUE(take_all(schedule, 110 * kMillisecond - 1).empty());
  EXPECT_EQ(schedule.next(), 110 * kMillisecond);
  const auto times = take_all(schedule, 120 * kMillisecond);
  ASSERT_EQ(times.size(), 11u);
  for (size_t i = 0; i < times.size(); ++i)
    EXPECT_EQ(times[i], (110 + static_cast<Nanoseconds>(i)) * kMillisecond);
}

TEST(Schedule, HasStartsOfAHighRateWaitForEachOther) {
  Schedule schedule(0, 500'000, 0, 14 * kMicrosecond);
  const auto take_at = [&](Nanoseconds now) { return take_all(schedule, schedule.reached(now)); };
  EXPECT_TRUE(take_at(Schedule::kTogether - 1).empty());
  EXPECT_EQ(take_at(Schedule::kTogether).size(), 6u);
  EXPECT_FALSE(schedule.finished(14 * kMicrosecond)) << "the last one waits, and is not lost";
  EXPECT_TRUE(take_at(22 * kMicrosecond - 1).empty());
  EXPECT_EQ(take_at(22 * kMicrosecond), std::vector<Nanoseconds>{12 * kMicrosecond});
  EXPECT_TRUE(schedule.finished(22 * kMicrosecond));
}

TEST(Schedule, HasStartsThatAreFarApartWaitForNone) {
  Schedule schedule(0, 199'000, 0, kNever);
  for (int i = 0; i < 100; ++i) {
    const Nanoseconds next = schedule.next();
    EXPECT_EQ(take_all(schedule, schedule.reached(next)), std::vector<Nanoseconds>{next});
  }
  schedule.set_rate(200'000, schedule.next());
  EXPECT_TRUE(take_all(schedule, schedule.reached(schedule.next())).empty());
}

TEST(Schedule, ForgetsATimeInWhichNothingWasMeantToBeOpened) {
  Schedule schedule(0, 1000, 0, 10 * kSecond);
  EXPECT_EQ(take_all(schedule, 5 * kMillisecond).size(), 6u);
  schedule.resume(100'500'000);
  EXPECT_EQ(schedule.intended(100'500'000), 7u);
  EXPECT_EQ(take_all(schedule, 102 * kMillisecond),
            (std::vector<Nanoseconds>{100'500'000, 101'500'000}));
  schedule.resume(102 * kMillisecond);
  EXPECT_EQ(schedule.next(), 102'500'000) << "it was not due yet";
  EXPECT_FALSE(schedule.ended(10 * kSecond - 1));
  schedule.resume(10 * kSecond);
  EXPECT_TRUE(schedule.finished(10 * kSecond));
}

/// 10^7 starts at a rate whose period is no binary fraction, a day after the epoch.
TEST(Schedule, DoesNotDrift) {
  const Nanoseconds first = 86'400 * kSecond;
  const double rate = 299'999.7;
  Schedule schedule(first, rate, 0, kNever);
  Nanoseconds intended = 0;
  for (uint64_t i = 0; i < 10'000'000; ++i) {
    ASSERT_TRUE(schedule.take(kFar, intended));
    if (i % 999'999 != 0) continue;
    const long double exact = static_cast<long double>(i) * kSecond / rate;
    ASSERT_NEAR(static_cast<double>(intended - first - exact), 0, 1) << i;
  }
}

TEST(Schedule, EndsBeforeItsEnd) {
  // The start at the end itself is not due, whatever rounding does.
  for (const double rate : {1.0, 3.0, 7.0, 1000.0, 20000.0, 123457.0}) {
    Schedule schedule(5, rate, 0, 5 + 3 * kSecond);
    EXPECT_FALSE(schedule.finished(5 + 3 * kSecond));
    EXPECT_EQ(schedule.intended(kFar), static_cast<uint64_t>(3 * rate)) << rate;
    EXPECT_EQ(take_all(schedule, kFar).size(), static_cast<size_t>(3 * rate)) << rate;
    EXPECT_EQ(schedule.next(), kNever);
    EXPECT_FALSE(schedule.finished(5 + 3 * kSecond - 1));
    EXPECT_TRUE(schedule.finished(5 + 3 * kSecond));
    EXPECT_EQ(schedule.intended(kFar), static_cast<uint64_t>(3 * rate)) << rate;
  }
}

TEST(Schedule, CountsWhatIsDueWhetherTakenOrNot) {
  std::mt19937 random(1);
  Schedule taken(0, 54321, 4 * kSecond, kNever);
  Schedule untouched(0, 54321, 4 * kSecond, kNever);
  uint64_t count = 0;
  for (Nanoseconds now = 0; now < 6 * kSecond;
       now += static_cast<Nanoseconds>(random() % kMillisecond)) {
    count += take_all(taken, now).size();
    ASSERT_EQ(taken.intended(now), count);
    ASSERT_EQ(untouched.intended(now), count);
  }
  EXPECT_EQ(untouched.intended(-1), 0u);
  // To the nanosecond.
  for (int i = 0; i < 1000; ++i, ++count) {
    Nanoseconds intended = 0;
    ASSERT_EQ(taken.intended(taken.next() - 1), count);
    ASSERT_EQ(untouched.intended(taken.next() - 1), count);
    ASSERT_EQ(untouched.intended(taken.next()), count + 1);
    ASSERT_TRUE(taken.take(taken.next(), intended));
  }
}

TEST(Schedule, RampsUpInSeconds) {
  const double rate = 1000;
  Schedule schedule(7, rate, 5 * kSecond, kNever);
  for (int second = 1; second <= 8; ++second) {
    const auto times = take_all(schedule, 7 + second * kSecond - 1);
    EXPECT_EQ(times.size(), static_cast<size_t>(rate * std::min(second, 5) / 5)) << second;
  }
}

TEST(Schedule, RampOfALowRateDoesNotStallAtItsBeginning) {
  // 0.1/s in the first of 10 seconds would mean one start in the whole ramp; TRex caps the spacing
  // at a quarter of the ramp.
  Schedule schedule(0, 1, 10 * kSecond, kNever);
  const auto times = take_all(schedule, 4 * kSecond - 1);
  ASSERT_EQ(times.size(), 2u);
  EXPECT_EQ(times[1], 2500 * kMillisecond);
}

TEST(Schedule, RateChangeKeepsTheShareOfThePeriodThatHasPassed) {
  Schedule schedule(0, 10, 0, kNever);
  EXPECT_EQ(take_all(schedule, 0).size(), 1u);
  schedule.set_rate(100, 50 * kMillisecond);  // half of the period of 100 ms is over
  EXPECT_EQ(schedule.next(), 55 * kMillisecond);
  EXPECT_EQ(take_all(schedule, 74 * kMillisecond).size(), 2u);
  EXPECT_EQ(schedule.intended(74 * kMillisecond), 3u);
}

TEST(Schedule, RateChangeForgetsNoOverdueStart) {
  Schedule schedule(0, 1000, 0, kNever);
  schedule.set_rate(10, 100 * kMillisecond);
  EXPECT_EQ(schedule.intended(100 * kMillisecond), 101u);
  EXPECT_EQ(take_all(schedule, 100 * kMillisecond).size(), 101u);
  schedule.set_rate(0, 100 * kMillisecond);
  EXPECT_EQ(schedule.next(), kNever);
  schedule.set_rate(10, 5 * kSecond);
  EXPECT_EQ(schedule.next(), 5100 * kMillisecond);
}

TEST(Schedule, RateChangeInTheRampScalesTheRest) {
  Schedule schedule(0, 1000, 4 * kSecond, kNever);
  uint64_t count = take_all(schedule, 2 * kSecond - 1).size();
  EXPECT_EQ(count, 250u + 500u);
  schedule.set_rate(2000, 2 * kSecond);
  count = take_all(schedule, 3 * kSecond - 1).size();
  EXPECT_EQ(count, 1500u);
}

TEST(Schedule, RateChangeCountsAtOnceWhereTheNextStartIsFar) {
  Schedule schedule(0, 1, 10 * kSecond, kNever);
  EXPECT_EQ(take_all(schedule, 0).size(), 1u);
  EXPECT_EQ(schedule.next(), 2500 * kMillisecond);
  // A fifth of a period has passed; in the first second the rate is 100/s now.
  schedule.set_rate(1000, 500 * kMillisecond);
  EXPECT_EQ(schedule.next(), 508 * kMillisecond);
}

TEST(Schedule, WithoutARateNothingIsDue) {
  Schedule schedule(0, 0, 0, kSecond);
  EXPECT_TRUE(take_all(schedule, kFar).empty());
  EXPECT_EQ(schedule.intended(kFar), 0u);
  EXPECT_FALSE(schedule.finished(kSecond - 1));
  EXPECT_TRUE(schedule.finished(kSecond));
  Schedule ramped(0, 0, 5 * kSecond, kNever);
  EXPECT_TRUE(take_all(ramped, kFar).empty());
}

/// Starts taken in each 100 ms of `duration` from `now` on, with a pass each millisecond.
std::vector<size_t> taken_by_tenth(Schedule& schedule, Nanoseconds now, Nanoseconds duration) {
  std::vector<size_t> tenths(static_cast<size_t>(duration / (100 * kMillisecond)));
  for (Nanoseconds passed = 0; passed < duration; passed += kMillisecond)
    tenths[static_cast<size_t>(passed / (100 * kMillisecond))] +=
        take_all(schedule, schedule.reached(now + passed)).size();
  return tenths;
}

TEST(Schedule, CatchesUpWithALongPauseAtAQuarterMore) {
  Schedule schedule(0, 1000, 0, kNever);
  EXPECT_EQ(take_all(schedule, schedule.reached(0)).size(), 1u);
  const auto tenths = taken_by_tenth(schedule, kSecond, 5 * kSecond);
  for (size_t tenth = 0; tenth < 39; ++tenth) EXPECT_NEAR(tenths[tenth], 125, 2) << tenth;
  for (size_t tenth = 41; tenth < tenths.size(); ++tenth) EXPECT_EQ(tenths[tenth], 100u) << tenth;
  EXPECT_EQ(schedule.intended(6 * kSecond - kMillisecond), 6000u);
  EXPECT_EQ(schedule.next(), 6 * kSecond) << "nothing was forgotten";
}

TEST(Schedule, OpensWhatAShortPauseLeftAtOnce) {
  Schedule schedule(0, 1000, 0, kNever);
  EXPECT_EQ(take_all(schedule, schedule.reached(Schedule::kPause)).size(), 101u);
}

TEST(Schedule, APauseWhileItCatchesUpIsCaughtUpToo) {
  Schedule schedule(0, 1000, 0, kNever);
  taken_by_tenth(schedule, kSecond, kSecond);
  size_t most = 0;
  for (const size_t tenth : taken_by_tenth(schedule, 3 * kSecond, 9 * kSecond))
    most = std::max(most, tenth);
  EXPECT_LE(most, 125u + 125u) << "with what one pass takes after the second pause";
  EXPECT_EQ(schedule.next(), 12 * kSecond);
}

TEST(Schedule, HasCaughtUpByItsEnd) {
  Schedule schedule(0, 1000, 0, 2 * kSecond);
  EXPECT_EQ(take_all(schedule, schedule.reached(0)).size(), 1u);
  for (const size_t tenth : taken_by_tenth(schedule, kSecond, kSecond)) EXPECT_NEAR(tenth, 200, 3);
  EXPECT_LE(take_all(schedule, schedule.reached(2 * kSecond)).size(), 3u);
  EXPECT_TRUE(schedule.finished(2 * kSecond));
}

TEST(Schedule, APauseBeyondItsEndLeavesNoTime) {
  Schedule schedule(0, 1000, 0, kSecond);
  EXPECT_EQ(take_all(schedule, schedule.reached(kSecond)).size(), 1000u);
}

TEST(Schedule, StopIsFinal) {
  Schedule schedule(0, 1000, 0, kNever);
  EXPECT_EQ(take_all(schedule, 10 * kMillisecond).size(), 11u);
  EXPECT_FALSE(schedule.finished(20 * kMillisecond));
  schedule.stop();
  EXPECT_TRUE(schedule.finished(20 * kMillisecond));
  EXPECT_TRUE(take_all(schedule, kFar).empty());
  EXPECT_EQ(schedule.intended(kFar), 11u);
  schedule.set_rate(5, 30 * kMillisecond);
  EXPECT_EQ(schedule.next(), kNever);
}

}  // namespace
}  // namespace engine
