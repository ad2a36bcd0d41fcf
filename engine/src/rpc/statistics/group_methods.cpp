// Template groups: names and counters.

#include <fmt/format.h>

#include "rpc/methods.h"

namespace engine {

namespace {

using enum ParameterType;

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

}  // namespace

void add_group_methods(MethodTable& methods, ControlState& state) {
  methods.add("get_tg_names", Access::reader,
              {{"profile_id", string}, {"initialized", boolean}, optional("epoch", integer)},
              [&state](const Json& params) { return group_names(state, params); });
  methods.add("get_tg_id_stats", Access::reader,
              {{"profile_id", string}, {"epoch", integer}, {"tg_ids", array}},
              [&state](const Json& params) { return group_statistics(state, params); });
}

}  // namespace engine
