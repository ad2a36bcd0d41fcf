#include "astf/schedule.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace engine {
namespace {

constexpr Nanoseconds kNoEnd = INT64_MAX;

}  // namespace

Schedule::Schedule(Nanoseconds first, double rate, Nanoseconds rampup, Nanoseconds end)
    : rate_(rate), first_(first), rampup_(rampup), end_(end), stretch_(stretch_from(first, 0)) {
  find_next(first);
}

Schedule::Stretch Schedule::stretch_from(Nanoseconds begin, double phase) const {
  Stretch stretch{begin, kNoEnd, phase, 0};
  double rate = rate_;
  if (begin - first_ < rampup_) {
    const Nanoseconds second = std::max<Nanoseconds>(begin - first_, 0) / kSecond + 1;
    stretch.end = first_ + std::min(second * kSecond, rampup_);
    const double ramp_s = static_cast<double>(rampup_) / kSecond;
    const double least = std::min(rate_, 4 / ramp_s);
    rate = std::clamp(rate_ * static_cast<double>(second) / ramp_s, least, rate_);
  }
  stretch.period_ns = rate > 0 ? kSecond / rate : std::numeric_limits<double>::infinity();
  return stretch;
}

double Schedule::wait_in(const Stretch& stretch) const {
  const double starts = static_cast<double>(taken_) - stretch.phase;
  if (std::isinf(stretch.period_ns)) return starts < 0 ? 0 : stretch.period_ns;
  return starts * stretch.period_ns;
}

Schedule::Stretch Schedule::following(const Stretch& stretch) const {
  return stretch_from(stretch.end, stretch.phase_at(stretch.end));
}

void Schedule::find_next(Nanoseconds passed) {
  next_ = kNoEnd;
  if (stopped_) return;
  while (stretch_.end <= passed) stretch_ = following(stretch_);
  Stretch stretch = stretch_;
  double wait_ns = wait_in(stretch);
  while (stretch.end != kNoEnd && wait_ns >= static_cast<double>(stretch.end - stretch.begin)) {
    stretch = following(stretch);
    wait_ns = wait_in(stretch);
  }
  if (wait_ns >= static_cast<double>(kNoEnd - stretch.begin)) return;
  const Nanoseconds next = stretch.begin + static_cast<Nanoseconds>(std::ceil(wait_ns - 0.5));
  if (next < end_) next_ = next;
}

Nanoseconds Schedule::catch_up(Nanoseconds now) {
  if (!behind_) {
    behind_ = true;
    reached_ = next_;
    looked_ = now;
  }
  // What passed in another pause is not caught up at once either.
  const Nanoseconds passed = std::min(now - looked_, kPause);
  looked_ = now;
  if (now < end_) {
    const double rest = static_cast<double>(end_ - now);
    const double speed = 1 + std::max(kCatchUp, static_cast<double>(now - reached_) / rest);
    reached_ += static_cast<Nanoseconds>(static_cast<double>(passed) * speed);
  }
  if (now >= end_ || reached_ >= now) {
    behind_ = false;
    return now;
  }
  return reached_;
}

void Schedule::set_rate(double rate, Nanoseconds now) {
  Stretch stretch = stretch_;
  while (stretch.end <= now) stretch = following(stretch);
  const Nanoseconds begin = std::max(now, stretch.begin);
  const double phase = stretch.phase_at(begin);
  rate_ = rate;
  behind_ = false;  // what is overdue has other intended times now
  stretch_ = stretch_from(begin, phase);
  find_next(begin);
}

void Schedule::stop() {
  stopped_ = true;
  next_ = kNoEnd;
}

bool Schedule::finished(Nanoseconds now) const {
  return stopped_ || (now >= end_ && next_ == kNoEnd);
}

uint64_t Schedule::intended(Nanoseconds now) const {
  if (stopped_) return taken_;
  const Nanoseconds last = std::min(now, end_ - 1);
  if (last < next_) return taken_;
  Stretch stretch = stretch_;
  while (stretch.end <= last) stretch = following(stretch);
  // A start is due from the nanosecond nearest to it.
  const double phase =
      stretch.phase + (static_cast<double>(last - stretch.begin) + 0.5) / stretch.period_ns;
  return std::max<uint64_t>(taken_, static_cast<uint64_t>(phase) + 1);
}

}  // namespace engine
