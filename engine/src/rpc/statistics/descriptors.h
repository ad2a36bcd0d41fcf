#pragma once
// Counters and gauges in the shape of get_counter_desc and get_counter_values.

#include <nlohmann/json.hpp>

#include "stats/counters.h"
#include "stats/gauges.h"

namespace engine {

/// The list of get_counter_desc: one object per id, in order of id.
const nlohmann::json& counter_descriptors();

/// One side's values by decimal id. A value of zero is left out unless its descriptor says `zero`.
nlohmann::json counter_values(const CounterBlock& counters, const GaugeValues& gauges);

}  // namespace engine
