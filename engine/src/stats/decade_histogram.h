#pragma once
// Latencies in the buckets that TRex clients know (TRex: src/time_histogram.cpp).

#include <array>
#include <cstddef>
#include <cstdint>

#include "base/time.h"

namespace engine {

/// Nine buckets in each decade from 10 us on: the bucket named k holds k to less than the next
/// name. What is shorter than 10 us is only counted; what is longer than the last bucket is in it.
class DecadeHistogram {
 public:
  static constexpr size_t kDecades = 5;
  static constexpr size_t kBuckets = 9;
  static constexpr Nanoseconds kShortest = 10 * kMicrosecond;
  /// Averages and maxima are of windows of this length.
  static constexpr Nanoseconds kWindow = 500 * kMillisecond;

  /// `warm_up`: for the maximum, this many first samples do not count, unless 2 s have passed.
  explicit DecadeHistogram(uint64_t warm_up = 0) : warm_up_(warm_up) {}

  void add(Nanoseconds latency, Nanoseconds now);
  /// Of several cores, of which one has samples.
  DecadeHistogram& operator+=(const DecadeHistogram& other);

  uint64_t count() const { return count_; }
  /// Samples of at least kShortest.
  uint64_t long_count() const { return long_count_; }
  Nanoseconds maximum() const { return maximum_; }
  /// Each window's average weighs half, what was before the other half.
  double smoothed_average_ns() const { return smoothed_ > 0 ? smoothed_ : average(window_); }
  /// Maximum of the last complete window.
  Nanoseconds recent_maximum() const { return recent_maximum_; }
  uint64_t bucket(size_t decade, size_t index) const { return buckets_[decade][index]; }
  /// The shortest latency of a bucket, in microseconds.
  static uint64_t bucket_us(size_t decade, size_t index);

 private:
  struct Window {
    Nanoseconds begin = 0;
    double sum = 0;
    Nanoseconds maximum = 0;
    uint64_t count = 0;
  };
  static double average(const Window& window) {
    return window.count == 0 ? 0 : window.sum / static_cast<double>(window.count);
  }
  void close_window(Nanoseconds now);

  uint64_t warm_up_;
  uint64_t count_ = 0;
  uint64_t long_count_ = 0;
  Nanoseconds maximum_ = 0;
  Nanoseconds recent_maximum_ = 0;
  double smoothed_ = 0;
  uint32_t windows_ = 0;
  Window window_;
  std::array<std::array<uint64_t, kBuckets>, kDecades> buckets_{};
};

}  // namespace engine
