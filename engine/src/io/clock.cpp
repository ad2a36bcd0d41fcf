#include "io/clock.h"

#include <ctime>

namespace engine {
namespace {

struct Reading {
  uint64_t tsc;
  int64_t nanoseconds;
};

/// Both clocks at one moment: of several tries the one that took least.
Reading read_both() {
  Reading best{};
  uint64_t least = UINT64_MAX;
  for (int i = 0; i < 16; ++i) {
    timespec time{};
    const uint64_t before = Clock::read();
    clock_gettime(CLOCK_MONOTONIC, &time);
    const uint64_t took = Clock::read() - before;
    if (took >= least) continue;
    least = took;
    best = {before + took / 2, int64_t{time.tv_sec} * kSecond + time.tv_nsec};
  }
  return best;
}

}  // namespace

Clock::Clock() {
  const Reading from = read_both();
  const timespec pause{0, 50 * kMillisecond};
  nanosleep(&pause, nullptr);
  const Reading to = read_both();
  using Wide = unsigned __int128;
  const Wide cycles = to.tsc - from.tsc;
  const Wide elapsed = static_cast<uint64_t>(to.nanoseconds - from.nanoseconds);
  hz_ = static_cast<uint64_t>(cycles * kSecond / elapsed);
  multiplier_ = static_cast<uint64_t>((elapsed << kShift) / cycles);
  epoch_ = read();
}

Nanoseconds Clock::wall_epoch() const {
  timespec time{};
  clock_gettime(CLOCK_REALTIME, &time);
  return int64_t{time.tv_sec} * kSecond + time.tv_nsec - now();
}

}  // namespace engine
