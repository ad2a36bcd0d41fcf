#pragma once
// Time from the CPU's time-stamp counter.

#include <rte_cycles.h>

#include <cstdint>

#include "base/time.h"

namespace engine {

/// Converts time-stamp counter readings to nanoseconds since the clock was made, without a
/// division.
class Clock {
 public:
  /// Measures the counter's rate against the kernel's monotonic clock; takes 50 ms.
  Clock();

  static uint64_t read() { return rte_rdtsc(); }

  Nanoseconds at(uint64_t tsc) const {
    using Wide = unsigned __int128;
    return static_cast<Nanoseconds>(Wide{tsc - epoch_} * multiplier_ >> kShift);
  }
  Nanoseconds now() const { return at(read()); }
  uint64_t hz() const { return hz_; }
  /// Cycles of the counter in so much time.
  uint64_t cycles(Nanoseconds time) const {
    return static_cast<uint64_t>(static_cast<unsigned __int128>(time) * hz_ / kSecond);
  }
  /// Wall-clock time (Unix) at 0.
  Nanoseconds wall_epoch() const;

 private:
  static constexpr int kShift = 32;
  uint64_t epoch_;
  uint64_t hz_;
  uint64_t multiplier_;  ///< nanoseconds per cycle, times 2^kShift
};

}  // namespace engine
