// Counters and rates, of profiles and of the engine itself.

#include <fmt/format.h>

#include "rpc/methods.h"
#include "rpc/statistics/descriptors.h"

namespace engine {

namespace {

using enum ParameterType;

// -- Counters and rates.

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

// -- Template groups: names and counters.

constexpr size_t kMaxGroupsPerCall = 10;

/// Succeeds with no names for a profile that was never loaded.
Json group_names(ControlState& state, const Json& params) {
  const std::string id = params.at("profile_id");
  const auto& profiles = state.profiles.profiles();
  const auto found = profiles.find(id);
  const uint64_t epoch = found == profiles.end() ? 0 : found->second.epoch;
  const bool known = params.at("initialized").get<bool>() && params.value("epoch", Json()) == epoch;
  if (known) return {{"epoch", epoch}};
  return {{"epoch", epoch}, {"tg_names", state.profiles.group_names(id)}};
}

Json group_statistics(ControlState& state, const Json& params) {
  const std::string id = params.at("profile_id");
  const ProfileSlot& slot = state.profiles.find(id);
  Json answer = {{"epoch", slot.epoch}};
  if (params.at("epoch") != slot.epoch) return answer;

  const Json& ids = params.at("tg_ids");
  if (ids.size() > kMaxGroupsPerCall)
    throw refused(fmt::format("Trying to get statistics for too many TGs. Max allowed is {}",
                              kMaxGroupsPerCall));
  const size_t groups = state.profiles.group_names(id).size();
  const RunCounters counters = state.profiles.counters(id);
  const double now = state.engine.clock.now();
  for (const Json& element : ids) {
    const uint64_t group = integer_in({{"tg_ids", element}}, "tg_ids", 1, groups);
    answer[std::to_string(group)] = {
        {"name", "counter vals"},
        {"epoch", slot.epoch},
        {"client", slot.statistics.group_values(counters, Side::client, group, now)},
        {"server", slot.statistics.group_values(counters, Side::server, group, now)}};
  }
  return answer;
}

// -- What the engine itself uses and drops; docs/rpc-extensions.md describes it.

Json cpu(const Cores& data_cores) {
  Json cores = Json::array();
  for (const CoreCycles& core : data_cores.cycles())
    cores.push_back({{"core", core.core},
                     {"cpu", core.cpu},
                     {"total_cycles", core.total},
                     {"busy_cycles", core.busy},
                     {"sending_cycles", core.sending}});
  return {{"tsc_hz", data_cores.tsc_hz()}, {"cores", std::move(cores)}};
}

Json memory(const Cores& data_cores) {
  Json pools = Json::array();
  for (const PoolStatus& pool : data_cores.memory())
    pools.push_back({{"name", pool.name},
                     {"object_bytes", pool.object_bytes},
                     {"in_use", pool.in_use},
                     {"reserved_bytes", pool.reserved_bytes}});
  return {{"pools", std::move(pools)}};
}

Json drops(const Ports& ports) {
  Json cores = Json::array();
  for (const PortDrops& port : ports.drops()) {
    Json reasons = Json::object();
    for (size_t reason = 0; reason < kDropReasons; ++reason)
      reasons[kDropNames[reason]] = port.drops.values[reason];
    const PathMtuCounts& path = port.path_mtu;
    cores.push_back({{"port", port.port},
                     {"core", port.core},
                     {"reasons", std::move(reasons)},
                     {"path_mtu",
                      {{"accepted", path.accepted},
                       {"least", path.accepted != 0 ? Json(path.least) : Json(nullptr)}}}});
  }
  Json devices = Json::array();
  for (uint32_t port = 0; port < ports.infos().size(); ++port) {
    const PortCounters losses = ports.device_losses(port);
    devices.push_back({{"port", port}, {"lost", losses.ierrors}, {"refused", losses.oerrors}});
  }
  return {{"cores", std::move(cores)}, {"devices", std::move(devices)}};
}

}  // namespace

void add_statistics_methods(MethodTable& methods, ControlState& state) {
  // Counters and rates.
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

  // Template groups.
  methods.add("get_tg_names", Access::reader,
              {{"profile_id", string}, {"initialized", boolean}, optional("epoch", integer)},
              [&state](const Json& params) { return group_names(state, params); });
  methods.add("get_tg_id_stats", Access::reader,
              {{"profile_id", string}, {"epoch", integer}, {"tg_ids", array}},
              [&state](const Json& params) { return group_statistics(state, params); });

  // The engine itself.
  methods.add("stackcost_get_cpu", Access::reader, {},
              [&state](const Json&) { return cpu(state.engine.cores); });
  methods.add("stackcost_get_memory", Access::reader, {},
              [&state](const Json&) { return memory(state.engine.cores); });
  methods.add("stackcost_get_drops", Access::reader, {},
              [&state](const Json&) { return drops(state.engine.ports); });
}

}  // namespace engine
