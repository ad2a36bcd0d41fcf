#include "stats/decade_histogram.h"

#include <gtest/gtest.h>

namespace engine {
namespace {

TEST(DecadeHistogram, HasNineBucketsInEachDecadeFromTenMicroseconds) {
  DecadeHistogram histogram;
  for (const Nanoseconds us : {9, 10, 19, 20, 99, 100, 999, 1000, 500'000, 999'999})
    histogram.add(us * kMicrosecond, 0);
  EXPECT_EQ(histogram.count(), 10u);
  EXPECT_EQ(histogram.long_count(), 9u);
  EXPECT_EQ(histogram.bucket(0, 0), 2u);
  EXPECT_EQ(histogram.bucket(0, 1), 1u);
  EXPECT_EQ(histogram.bucket(0, 8), 1u);
  EXPECT_EQ(histogram.bucket(1, 0), 1u);
  EXPECT_EQ(histogram.bucket(1, 8), 1u);
  EXPECT_EQ(histogram.bucket(2, 0), 1u);
  EXPECT_EQ(histogram.bucket(4, 4), 1u);
  EXPECT_EQ(histogram.bucket(4, 8), 1u);
  EXPECT_EQ(DecadeHistogram::bucket_us(0, 0), 10u);
  EXPECT_EQ(DecadeHistogram::bucket_us(1, 8), 900u);
  EXPECT_EQ(DecadeHistogram::bucket_us(4, 4), 500'000u);
  histogram.add(kSecond * 20, 0);
  EXPECT_EQ(histogram.bucket(4, 8), 2u);
}

TEST(DecadeHistogram, TheLongestTimesHaveAnAverageToo) {
  DecadeHistogram histogram;
  for (int i = 0; i < 4; ++i) histogram.add(INT64_MAX, 0);
  EXPECT_DOUBLE_EQ(histogram.smoothed_average_ns(), static_cast<double>(INT64_MAX));
  EXPECT_EQ(histogram.bucket(4, 8), 4u);
}

TEST(DecadeHistogram, AveragesWindowsByHalves) {
  DecadeHistogram histogram;
  const auto window = [&](int number, Nanoseconds latency) {
    for (int i = 0; i < 3; ++i) histogram.add(latency, number * DecadeHistogram::kWindow);
  };
  window(0, 100 * kMicrosecond);
  EXPECT_EQ(histogram.smoothed_average_ns(), 100e3);
  window(1, 300 * kMicrosecond);
  EXPECT_EQ(histogram.smoothed_average_ns(), 100e3);
  EXPECT_EQ(histogram.recent_maximum(), 100 * kMicrosecond);
  window(2, kMicrosecond);
  EXPECT_EQ(histogram.smoothed_average_ns(), 200e3);
  EXPECT_EQ(histogram.recent_maximum(), 300 * kMicrosecond);
  EXPECT_EQ(histogram.maximum(), 300 * kMicrosecond);
}

TEST(DecadeHistogram, MaximumLeavesOutTheWarmUp) {
  DecadeHistogram histogram(2);
  histogram.add(kSecond, 0);
  histogram.add(kSecond, 0);
  EXPECT_EQ(histogram.maximum(), 0);
  histogram.add(kMillisecond, 0);
  EXPECT_EQ(histogram.maximum(), kMillisecond);

  DecadeHistogram slow(100);
  for (int second = 0; second < 5; ++second)
    slow.add((second + 1) * kMillisecond, second * kSecond);
  EXPECT_EQ(slow.maximum(), 5 * kMillisecond);
}

TEST(DecadeHistogram, AddsUpOverCores) {
  DecadeHistogram busy, idle, sum;
  busy.add(50 * kMicrosecond, 0);
  sum += idle;
  sum += busy;
  sum += idle;
  EXPECT_EQ(sum.count(), 1u);
  EXPECT_EQ(sum.bucket(0, 4), 1u);
  EXPECT_EQ(sum.smoothed_average_ns(), 50e3);
}

}  // namespace
}  // namespace engine
