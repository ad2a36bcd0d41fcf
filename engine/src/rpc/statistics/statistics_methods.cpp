// Counters and rates.

#include "rpc/methods.h"
#include "rpc/statistics/descriptors.h"

namespace engine {

namespace {

using enum ParameterType;

Json counter_answer(const RunStatistics& statistics, const RunCounters& counters, uint64_t epoch,
                    double now) {
  return {{"name", "counter vals"},
          {"epoch", epoch},
          {"client", statistics.values(counters, Side::client, now)},
          {"server", statistics.values(counters, Side::server, now)}};
}

/// Dynamic counters belong to plug-ins, of which there are none.
Json no_dynamic_counters() {
  return {{"name", "dynamic counter vals"},
          {"epoch", 0},
          {"client", Json::object()},
          {"server", Json::object()}};
}

/// TRex names pools by the size of their buffers: how many are free, and how many there are.
Json buffer_pools(const Cores& cores) {
  Json pools = Json::object();
  for (const auto& [bytes, counts] : cores.buffers())
    pools[std::to_string(bytes) + "b"] = {counts.first, counts.second};
  return {{"cpu-socket-0", std::move(pools)}};
}

}  // namespace

void add_statistics_methods(MethodTable& methods, ControlState& state) {
  methods.add("get_counter_desc", Access::reader, {{"profile_id", string}}, [](const Json&) {
    return Json{{"name", "counter desc"}, {"data", counter_descriptors()}};
  });
  methods.add("get_counter_values", Access::reader, {{"profile_id", string}},
              [&state](const Json& params) {
                const std::string id = params.at("profile_id");
                const ProfileSlot& slot = state.profiles.find(id);
                return counter_answer(slot.statistics, state.profiles.counters(id), slot.epoch,
                                      state.engine.clock.now());
              });
  methods.add("get_total_counter_values", Access::reader, {}, [&state](const Json&) {
    return counter_answer(state.profiles.total_statistics(), state.profiles.total_counters(),
                          state.profiles.epoch(), state.engine.clock.now());
  });

  methods.add("get_dynamic_counter_desc", Access::reader, {}, [](const Json&) {
    return Json{{"name", "dynamic counter desc"}, {"data", Json::array()}, {"epoch", 0}};
  });
  methods.add("get_dynamic_counter_values", Access::reader, {},
              [](const Json&) { return no_dynamic_counters(); });
  methods.add("get_total_dynamic_counter_values", Access::reader, {},
              [](const Json&) { return no_dynamic_counters(); });

  methods.add("get_global_stats", Access::reader, {},
              [&state](const Json&) { return state.machine.global_stats(state.profiles); });
  methods.add("get_utilization", Access::reader, {}, [&state](const Json&) {
    return Json{{"cpu", state.machine.core_histories()},
                {"mbuf_stats", buffer_pools(state.engine.cores)}};
  });
}

}  // namespace engine
