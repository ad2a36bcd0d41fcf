#pragma once
// What get_flow_info tells: connections of a run, looked at from time to time.

#include <deque>
#include <string>
#include <vector>

#include "json/json_text.h"
#include "tcp/info.h"

namespace engine {

/// Samples of one run. The last 10 s of them are kept (TRex), numbered from 0.
class FlowSamples {
 public:
  /// Forgets all; from `now` on samples are due every `interval_s`, at least 10 ms; 0: never.
  void begin(double interval_s, double now);
  bool wanted() const { return interval_ > 0; }
  /// Seconds from `now` until the next sample is due; `kNever` when none are wanted.
  double patience(double now) const;
  /// Adds what each core has at `now`; a core that has no connection adds nothing.
  void add(const std::vector<std::vector<tcp::Info>>& cores, double now);
  /// From number `first` on, or as many as are kept.
  Json from(uint64_t first) const;

  static constexpr double kNever = 1e9;

 private:
  double interval_ = 0;
  double due_ = 0;
  std::deque<Json> kept_;
  uint64_t taken_ = 0;
};

}  // namespace engine
