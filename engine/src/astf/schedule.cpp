#include "astf/schedule.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

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
  within_ns_ = 0;
  if (stopped_) return;
  while (stretch_.end <= passed) stretch_ = following(stretch_);
  together_ = stretch_.period_ns * kLeastTogether <= kTogether ? kTogether : 0;
  if (!std::isinf(stretch_.period_ns))
    within_ns_ = static_cast<double>(std::min(stretch_.end, end_) - 1 - stretch_.begin);
  Stretch stretch = stretch_;
  double wait_ns = wait_in(stretch);
  while (stretch.end != kNoEnd && wait_ns >= static_cast<double>(stretch.end - stretch.begin)) {
    stretch = following(stretch);
    wait_ns = wait_in(stretch);
  }
  if (wait_ns >= static_cast<double>(kNoEnd - stretch.begin)) return;
  const Nanoseconds next = stretch.begin + nearest(wait_ns);
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

void Schedule::resume(Nanoseconds now) {
  if (now < next_) return;
  behind_ = false;
  stretch_ = stretch_from(now, static_cast<double>(taken_));
  find_next(now);
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

TemplateDraw::TemplateDraw(const std::vector<double>& weights, uint64_t seed)
    : weights_(weights), state_(seed) {
  rebuild();
}

void TemplateDraw::remove(uint32_t index) {
  restore(index, 0);
}

void TemplateDraw::restore(uint32_t index, double weight) {
  weights_[index] = weight;
  rebuild();
}

// Vose 1991: pair a column that has less than its share with one that has more, again and again.
void TemplateDraw::rebuild() {
  constexpr double kFull = 4294967296.0;
  columns_.clear();
  const double total = std::accumulate(weights_.begin(), weights_.end(), 0.0);
  for (uint32_t i = 0; i < weights_.size(); ++i)
    if (weights_[i] > 0) columns_.push_back({0, i, i});

  shares_.clear();
  small_.clear();
  large_.clear();
  for (uint32_t i = 0; i < columns_.size(); ++i) {
    shares_.push_back(weights_[columns_[i].own] / total * static_cast<double>(columns_.size()));
    (shares_[i] < 1 ? small_ : large_).push_back(i);
  }
  while (!small_.empty() && !large_.empty()) {
    const uint32_t less = small_.back();
    const uint32_t more = large_.back();
    small_.pop_back();
    columns_[less].threshold = static_cast<uint64_t>(std::llround(shares_[less] * kFull));
    columns_[less].alias = columns_[more].own;
    shares_[more] -= 1 - shares_[less];
    if (shares_[more] < 1) {
      large_.pop_back();
      small_.push_back(more);
    }
  }
  // What is left over is full but for rounding.
  for (const uint32_t i : small_) columns_[i].threshold = static_cast<uint64_t>(kFull);
  for (const uint32_t i : large_) columns_[i].threshold = static_cast<uint64_t>(kFull);
}

}  // namespace engine
