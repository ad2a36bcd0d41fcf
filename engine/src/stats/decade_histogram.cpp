#include "stats/decade_histogram.h"

#include <algorithm>

namespace engine {
namespace {

/// Windows after which the warm-up is over however few samples came.
constexpr uint32_t kWarmUpWindows = 4;

}  // namespace

uint64_t DecadeHistogram::bucket_us(size_t decade, size_t index) {
  uint64_t unit = kShortest / kMicrosecond;
  for (size_t i = 0; i < decade; ++i) unit *= 10;
  return unit * (index + 1);
}

void DecadeHistogram::close_window(Nanoseconds now) {
  const double average = DecadeHistogram::average(window_);
  smoothed_ = smoothed_ == 0 ? average : (smoothed_ + average) / 2;
  recent_maximum_ = window_.maximum;
  ++windows_;
  window_ = {now, 0, 0, 0};
}

void DecadeHistogram::add(Nanoseconds latency, Nanoseconds now) {
  if (count_ == 0) window_.begin = now;
  if (window_.count != 0 && now - window_.begin >= kWindow) close_window(now);
  ++count_;
  ++window_.count;
  window_.sum += static_cast<double>(latency);
  if (count_ > warm_up_ || windows_ >= kWarmUpWindows) {
    window_.maximum = std::max(window_.maximum, latency);
    maximum_ = std::max(maximum_, latency);
  }
  if (latency < kShortest) return;
  ++long_count_;
  auto units = static_cast<uint64_t>(latency / kShortest);
  size_t decade = 0;
  for (; units >= 10 && decade + 1 < kDecades; ++decade) units /= 10;
  ++buckets_[decade][std::min<uint64_t>(units, kBuckets) - 1];
}

DecadeHistogram& DecadeHistogram::operator+=(const DecadeHistogram& other) {
  if (other.count_ > count_) {
    smoothed_ = other.smoothed_;
    window_ = other.window_;
    recent_maximum_ = other.recent_maximum_;
  }
  count_ += other.count_;
  long_count_ += other.long_count_;
  maximum_ = std::max(maximum_, other.maximum_);
  for (size_t decade = 0; decade < kDecades; ++decade)
    for (size_t i = 0; i < kBuckets; ++i) buckets_[decade][i] += other.buckets_[decade][i];
  return *this;
}

}  // namespace engine
