#pragma once
// When flows are opened: an open loop with constant spacing, and which template each one takes.

#include <cmath>
#include <cstdint>
#include <vector>

#include "base/random.h"
#include "base/time.h"

namespace engine {

/// The open-loop clock of one profile on one data core. Starts are spaced 1/rate apart whatever
/// happens to the flows; what could not be opened in time is seen as late, never forgotten.
class Schedule {
 public:
  /// First start at `first`. `rate`: flows per second of this core, > 0 (0: nothing is ever due).
  /// `rampup`: during second i of a ramp of k seconds the rate is rate * i / k, yet never so low
  /// that starts are more than a quarter of the ramp apart. `end`: no start is due at or after this
  /// time; INT64_MAX: none.
  Schedule(Nanoseconds first, double rate, Nanoseconds rampup, Nanoseconds end);

  /// Whether a flow is due at `now`; if so takes it and says for when it was intended.
  bool take(Nanoseconds now, Nanoseconds& intended) {
    if (now < next_) return false;
    intended = next_;
    ++taken_;
    const double wait_ns = (static_cast<double>(taken_) - stretch_.phase) * stretch_.period_ns;
    if (wait_ns < within_ns_) [[likely]]
      next_ = stretch_.begin + nearest(wait_ns);
    else
      find_next(intended);
    return true;
  }
  /// Up to when starts are to be taken at `now`, so that those which became overdue in a pause do
  /// not open all at once: `now`, unless the next one is overdue by more than kPause. Then it
  /// follows `now` faster than time passes, by kCatchUp, or by as much more as it takes to be there
  /// at the schedule's end. So after a pause of 1 s the rate is a quarter higher for 4 s. Asked
  /// before each pass, or a new pause would not be seen.
  /// While the next one waits for others (kTogether), a time before it.
  Nanoseconds reached(Nanoseconds now) {
    if (!behind_ && now - next_ <= kPause) [[likely]]
      return now - next_ < together_ ? next_ - 1 : now;
    return catch_up(now);
  }
  /// So long the first of some starts waits for the others at a rate that brings at least
  /// kLeastTogether meanwhile. They are opened in one pass, and their frames travel together: at
  /// both ends a pass with one frame takes three times as long as a frame in a burst.
  static constexpr Nanoseconds kTogether = 10 * kMicrosecond;
  static constexpr double kLeastTogether = 2;
  static constexpr Nanoseconds kPause = 100 * kMillisecond;
  static constexpr double kCatchUp = 0.25;
  /// When the next start is due; INT64_MAX: never again.
  Nanoseconds next() const { return next_; }
  /// Rescales the rate from `now` on; the start already pending keeps its share of the period.
  /// Starts that are overdue stay due, with intended times spaced by the new rate.
  void set_rate(double rate, Nanoseconds now);
  /// Nothing was meant to be opened since the last start: if one is overdue, the next is due now
  /// and the others follow it.
  void resume(Nanoseconds now);
  /// No start is due from now on, nor any that was not taken yet.
  void stop();
  /// No start will come: stopped, or `end` is over and everything due was taken.
  bool finished(Nanoseconds now) const;
  /// No start is due at `now` or later.
  bool ended(Nanoseconds now) const { return stopped_ || now >= end_; }
  /// Starts that were due by `now` since the first one, taken or not. `now` does not go backwards.
  uint64_t intended(Nanoseconds now) const;

 private:
  /// A time of constant rate. The k-th start (from 0) is when the phase reaches k; counting from
  /// the beginning of the stretch, no rounding adds up.
  struct Stretch {
    Nanoseconds begin;
    Nanoseconds end;
    double phase;      ///< at `begin`, in starts
    double period_ns;  ///< infinite: no starts
    double phase_at(Nanoseconds time) const {
      return phase + static_cast<double>(time - begin) / period_ns;
    }
  };

  Stretch stretch_from(Nanoseconds begin, double phase) const;
  Stretch following(const Stretch& stretch) const;
  /// From the stretch's beginning to the next start, were the stretch without end.
  double wait_in(const Stretch& stretch) const;
  Nanoseconds catch_up(Nanoseconds now);
  static Nanoseconds nearest(double wait_ns) {
    return static_cast<Nanoseconds>(std::ceil(wait_ns - 0.5));
  }
  /// `passed`: a time that the schedule has reached.
  void find_next(Nanoseconds passed);

  double rate_;
  Nanoseconds first_;
  Nanoseconds rampup_;
  Nanoseconds end_;
  bool stopped_ = false;
  bool behind_ = false;      ///< starts are taken up to `reached_`, not to the present
  Nanoseconds reached_ = 0;  ///< at `looked_`
  Nanoseconds looked_ = 0;
  Stretch stretch_;           ///< of the last start or change of rate
  Nanoseconds together_ = 0;  ///< what starts wait for each other: kTogether, or 0
  double within_ns_ = 0;      ///< a start that waits less than this is in it, and before `end_`
  Nanoseconds next_;
  uint64_t taken_ = 0;
};

/// Draws templates at random with weights proportional to their cps (Walker's alias method); the
/// draw is seeded, so a run can be repeated.
class TemplateDraw {
 public:
  /// Weights are not negative.
  TemplateDraw(const std::vector<double>& weights, uint64_t seed);
  /// Index into the weights, never one of weight 0. All weights 0: undefined, check empty().
  uint32_t draw() {
    if (columns_.size() == 1) return columns_.front().own;
    const uint64_t random = next_random();
    const Column& column = columns_[(random >> 32) * columns_.size() >> 32];
    return (random & UINT32_MAX) < column.threshold ? column.own : column.alias;
  }
  bool empty() const { return columns_.empty(); }
  /// Draws from now on as one that was made with `seed`.
  void set_seed(uint64_t seed) { state_ = seed; }
  /// Takes a template out (its limit is exhausted).
  void remove(uint32_t index);
  /// Puts it back, with `weight`.
  void restore(uint32_t index, double weight);

 private:
  /// An equal share of the draws: `own` gets threshold / 2^32 of it, `alias` the rest.
  struct Column {
    uint64_t threshold;
    uint32_t own;
    uint32_t alias;
  };

  /// SplitMix64.
  uint64_t next_random() { return scramble(state_ += 0x9e37'79b9'7f4a'7c15); }
  void rebuild();

  std::vector<double> weights_;
  std::vector<Column> columns_;  ///< one per weight that is not 0
  uint64_t state_;
  // Work space of rebuild(), kept because a concurrent limit rebuilds with every flow.
  std::vector<double> shares_;
  std::vector<uint32_t> small_;
  std::vector<uint32_t> large_;
};

}  // namespace engine
