// What a network that is not perfect does to frames: set and read for each port and direction.

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "rpc/method_table.h"
#include "rpc/methods.h"

namespace engine {

namespace {

using enum ParameterType;

constexpr std::array<std::pair<const char*, double ImpairmentSettings::*>, 5> kProbabilities{{
    {"loss", &ImpairmentSettings::loss},
    {"duplication", &ImpairmentSettings::duplication},
    {"reordering", &ImpairmentSettings::reordering},
    {"congestion", &ImpairmentSettings::congestion},
    {"corruption", &ImpairmentSettings::corruption},
}};

constexpr std::array<std::pair<const char*, Nanoseconds ImpairmentSettings::*>, 3> kDurations{{
    {"delay_us", &ImpairmentSettings::delay},
    {"jitter_us", &ImpairmentSettings::jitter},
    {"held_us", &ImpairmentSettings::held},
}};
constexpr uint64_t kLongestUs = 10'000'000;
constexpr double kMegabit = 1e6, kHighestMbit = 1e6;

constexpr std::array<std::pair<const char*, uint64_t ImpairmentCounts::*>, 9> kCounts{{
    {"frames", &ImpairmentCounts::frames},
    {"lost", &ImpairmentCounts::lost},
    {"no_room", &ImpairmentCounts::no_room},
    {"queue_full", &ImpairmentCounts::queue_full},
    {"delayed", &ImpairmentCounts::delayed},
    {"reordered", &ImpairmentCounts::reordered},
    {"duplicated", &ImpairmentCounts::duplicated},
    {"marked", &ImpairmentCounts::marked},
    {"corrupted", &ImpairmentCounts::corrupted},
}};

constexpr std::array<std::pair<const char*, Direction>, kDirections> kDirectionNames{
    {{"transmit", Direction::transmit}, {"receive", Direction::receive}}};

template <typename Table, typename Member>
Json by_name(const Table& table, const Member& value_of) {
  Json all = Json::object();
  for (const auto& [name, member] : table) all[name] = value_of(member);
  return all;
}

Json settings_json(const ImpairmentSettings& settings) {
  Json all = by_name(kProbabilities, [&](auto member) { return settings.*member; });
  all.update(by_name(kDurations, [&](auto member) { return settings.*member / kMicrosecond; }));
  all["rate_mbit"] = settings.rate / kMegabit;
  all["seed"] = settings.seed;
  return all;
}

double probability(const std::string& name, const Json& value) {
  if (value.is_number() && value >= 0 && value <= 1) return value;
  throw bad_parameters(fmt::format("setting '{}' must be a probability from 0 to 1, not {}", name,
                                   dump_json(value)));
}

/// Bits a second; 0: not limited.
double rate_in(const Json& mbit) {
  if (mbit.is_number() && (mbit == 0 || (mbit >= 0.01 && mbit <= kHighestMbit)))
    return mbit.get<double>() * kMegabit;
  throw bad_parameters(fmt::format(
      "setting 'rate_mbit' must be 0 for no limit, or 0.01 to 1,000,000, not {}", dump_json(mbit)));
}

ImpairmentSettings settings_of(const Json& given) {
  ImpairmentSettings settings;
  for (const auto& [name, value] : given.items()) {
    const auto named = [&setting = name](const auto& entry) { return entry.first == setting; };
    const auto chance = std::ranges::find_if(kProbabilities, named);
    const auto duration = std::ranges::find_if(kDurations, named);
    if (chance != kProbabilities.end())
      settings.*chance->second = probability(name, value);
    else if (duration != kDurations.end())
      settings.*duration->second =
          static_cast<Nanoseconds>(integer_in(given, name, 0, kLongestUs)) * kMicrosecond;
    else if (name == "rate_mbit")
      settings.rate = rate_in(value);
    else if (name == "seed")
      settings.seed = integer_in(given, name, 0, UINT32_MAX);
    else
      throw bad_parameters(fmt::format(
          "there is no setting '{}'; there are loss, duplication, reordering, congestion, "
          "corruption, delay_us, jitter_us, held_us, rate_mbit and seed",
          name));
  }
  return settings;
}

Direction direction_of(const Json& params) {
  const std::string name = params.at("direction");
  for (const auto& [known, direction] : kDirectionNames)
    if (name == known) return direction;
  throw bad_parameters(
      fmt::format("parameter 'direction' must be transmit or receive, not '{}'", name));
}

Json impairments(const Ports& ports) {
  Json all = Json::array();
  for (const PortImpairment& one : ports.impairments())
    all.push_back({{"port", one.port},
                   {"direction", kDirectionNames[static_cast<size_t>(one.direction)].first},
                   {"settings", settings_json(one.settings)},
                   {"counts", by_name(kCounts, [&](auto member) { return one.counts.*member; })}});
  return {{"impairments", std::move(all)}};
}

}  // namespace

void add_impairment_methods(MethodTable& methods, ControlState& state) {
  methods.add("stackcost_set_impairment", Access::port_owner,
              {{"direction", string}, {"settings", object}}, [&state](const Json& params) {
                state.engine.ports.impair(state.port_of(params), direction_of(params),
                                          settings_of(params.at("settings")));
                return Json::object();
              });
  methods.add("stackcost_get_impairment", Access::reader, {},
              [&state](const Json&) { return impairments(state.engine.ports); });
}

}  // namespace engine
