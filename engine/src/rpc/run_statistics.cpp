#include "rpc/run_statistics.h"

#include <fmt/format.h>

#include <string>
#include <string_view>
#include <vector>

#include "rpc/methods.h"

namespace engine {

namespace {

enum class Kind : uint8_t { bar, gauge, counter };

struct Row {
  Kind kind;
  size_t index;  ///< into the gauges or counters
  const char* name;
  const char* units;
  bool always;
  bool error;
  const char* help;
};

constexpr std::string_view kAlways = "always";
constexpr std::string_view kError = "error";

const Row kRows[] = {
#define BAR(caption) {Kind::bar, 0, caption, "", false, false, ""},
#define GAUGE(name, units, shown, help) \
  {Kind::gauge, static_cast<size_t>(Gauge::name), #name, units, #shown == kAlways, false, help},
#define COUNTER(name, severity, help) \
  {Kind::counter, static_cast<size_t>(Counter::name), #name, "", false, #severity == kError, help},
#define INTERNAL(name)
#include "stats/counters.def"
#undef INTERNAL
#undef BAR
#undef GAUGE
#undef COUNTER
};

/// Whole numbers as integers, as TRex writes them.
nlohmann::json as_number(double value) {
  const auto whole = static_cast<int64_t>(value);
  if (static_cast<double>(whole) == value) return whole;
  return value;
}

nlohmann::json describe_rows() {
  nlohmann::json list = nlohmann::json::array();
  for (const Row& row : kRows)
    list.push_back({{"id", list.size()},
                    {"name", row.name},
                    {"help", row.help},
                    {"units", row.units},
                    {"zero", row.always},
                    {"info", row.error ? "error" : "info"},
                    {"real", row.kind != Kind::bar},
                    {"abs", row.kind != Kind::counter}});
  return list;
}

}  // namespace

const nlohmann::json& counter_descriptors() {
  static const nlohmann::json list = describe_rows();
  return list;
}

nlohmann::json counter_values(const CounterBlock& counters, const GaugeValues& gauges) {
  nlohmann::json values = nlohmann::json::object();
  size_t id = 0;
  for (const Row& row : kRows) {
    const std::string key = std::to_string(id++);
    if (row.kind == Kind::counter && counters.values[row.index] != 0)
      values[key] = counters.values[row.index];
    if (row.kind == Kind::gauge && (row.always || gauges[row.index] != 0))
      values[key] = as_number(gauges[row.index]);
  }
  return values;
}

namespace {

constexpr Side kBothSides[] = {Side::client, Side::server};

CounterBlock difference(CounterBlock now, const CounterBlock& before) {
  for (size_t i = 0; i < kCounterCount; ++i) now.values[i] -= before.values[i];
  return now;
}

}  // namespace

void RunStatistics::begin(const std::array<CounterBlock, kSides>& table, double now) {
  table_before_ = table;
  traffic = {};
  settle();
  opened_.sample(0, now);
  for (SideGauges& gauges : gauges_) gauges.sample({}, now);
}

void RunStatistics::settle() {
  opened_ = {};
  gauges_ = {};
  group_gauges_ = {};
}

void RunStatistics::sample(const RunCounters& counters, double now) {
  opened_.sample(opened_flows(counters.sum(Side::client)), now);
  for (Side side : kBothSides) {
    const size_t s = index_of(side);
    gauges_[s].sample(counters.sum(side), now);
    group_gauges_[s].resize(counters.groups[s].size());
    for (size_t group = 0; group < counters.groups[s].size(); ++group)
      group_gauges_[s][group].sample(counters.groups[s][group], now);
  }
}

nlohmann::json RunStatistics::values(const RunCounters& counters, Side side, double now) const {
  const size_t s = index_of(side);
  CounterBlock all = counters.sum(side);
  const GaugeValues gauges = gauges_[s].values(all, traffic.duration(now));
  all += difference(counters.table[s], table_before_[s]);
  return counter_values(all, gauges);
}

nlohmann::json RunStatistics::group_values(const RunCounters& counters, Side side, size_t group,
                                           double now) const {
  const size_t s = index_of(side);
  const CounterBlock block =
      group < counters.groups[s].size() ? counters.groups[s][group] : CounterBlock{};
  const SideGauges gauges =
      group < group_gauges_[s].size() ? group_gauges_[s][group] : SideGauges{};
  return counter_values(block, gauges.values(block, traffic.duration(now)));
}

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

}  // namespace

void add_counter_methods(MethodTable& methods, ControlState& state) {
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

  // Template groups.
  methods.add("get_tg_names", Access::reader,
              {{"profile_id", string}, {"initialized", boolean}, optional("epoch", integer)},
              [&state](const Json& params) { return group_names(state, params); });
  methods.add("get_tg_id_stats", Access::reader,
              {{"profile_id", string}, {"epoch", integer}, {"tg_ids", array}},
              [&state](const Json& params) { return group_statistics(state, params); });
}

}  // namespace engine
