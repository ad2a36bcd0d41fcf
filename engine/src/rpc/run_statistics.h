#pragma once
// Counters, gauges and rates: as clients read them, and of a profile's run, or of all runs
// together.

#include <array>
#include <nlohmann/json.hpp>
#include <optional>
#include <vector>

#include "stats/counters.h"
#include "stats/gauges.h"
#include "stats/run_counters.h"

namespace engine {

/// The list of get_counter_desc: one object per id, in order of id.
const nlohmann::json& counter_descriptors();

/// One side's values by decimal id. A value of zero is left out unless its descriptor says `zero`.
nlohmann::json counter_values(const CounterBlock& counters, const GaugeValues& gauges);

/// When traffic flowed.
struct TrafficTime {
  std::optional<double> first;  ///< seconds; the first flow was seen
  std::optional<double> last;   ///< the last flow was gone
  double duration(double now) const { return first ? last.value_or(now) - *first : 0; }
};

class RunStatistics {
 public:
  /// Everything at zero: `table` is what the flow table had counted before.
  void begin(const std::array<CounterBlock, kSides>& table, double now);
  /// Takes a reading for the rates.
  void sample(const RunCounters& counters, double now);
  /// No traffic any more: rates are zero from now on.
  void settle();

  TrafficTime traffic;

  /// Flows opened by clients, per second.
  double opens_per_second() const { return opened_.value(); }
  /// Values of one side, the flow table's included.
  nlohmann::json values(const RunCounters& counters, Side side, double now) const;
  /// Values of one template group on one side, which has no part in the flow table's.
  nlohmann::json group_values(const RunCounters& counters, Side side, size_t group,
                              double now) const;

 private:
  std::array<CounterBlock, kSides> table_before_;
  SmoothedRate opened_;
  std::array<SideGauges, kSides> gauges_;
  std::array<std::vector<SideGauges>, kSides> group_gauges_;
};

}  // namespace engine
