#pragma once
// Levels derived from counters: flows open, rates, ratios (TRex 3.08, src/stt_cp.cpp). TRex takes
// all that closed off what was established, so each connection that was refused hides an open one;
// here only those are taken off that had been counted.

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "stats/counters.h"

namespace engine {

enum class Gauge : uint8_t {
#define BAR(caption)
#define GAUGE(name, units, shown, help) name,
#define COUNTER(name, severity, help)
#define INTERNAL(name)
#include "stats/counters.def"
#undef INTERNAL
#undef BAR
#undef GAUGE
#undef COUNTER
  count
};

using GaugeValues = std::array<double, static_cast<size_t>(Gauge::count)>;

/// A rate from readings of a running total: each reading weighs half, what was before the other
/// half.
class SmoothedRate {
 public:
  /// A reading sooner after the last one is ignored: too little time for a rate (seconds).
  static constexpr double kMinInterval = 0.25;

  /// `total` as of `now` (seconds). The first reading gives no rate.
  void sample(double total, double now);
  /// Per second; 0 until two readings were taken.
  double value() const { return rate_.value_or(0); }

 private:
  struct Reading {
    double total;
    double time;
  };
  std::optional<Reading> reading_;
  std::optional<double> rate_;
};

/// The gauges of one side of a profile, a template group, or everything.
class SideGauges {
 public:
  /// Takes a reading for the rates; every 0.5 to 1 s, and once at the start.
  void sample(const CounterBlock& counters, double now);

  /// Levels of `counters` as they are, rates as last sampled; `duration`: seconds of traffic.
  GaugeValues values(const CounterBlock& counters, double duration) const;

 private:
  SmoothedRate transmitted_, transmitted_total_, received_;  ///< payload bytes
  SmoothedRate packets_out_, packets_in_;
};

/// Flows a client opened, TCP and UDP.
uint64_t opened_flows(const CounterBlock& counters);
/// Flows of one side that are open now, at least 0. A server's are open once they are accepted.
uint64_t active_flows(const CounterBlock& counters);

}  // namespace engine
