// Profiles and traffic.

#include <fmt/format.h>

#include <algorithm>

#include "astf/address_pool.h"
#include "net/address_text.h"
#include "rpc/methods.h"
#include "rpc/network/address_parameters.h"

namespace engine {

namespace {

using enum ParameterType;

constexpr double kMaxMultiplier = 1e9;
/// Beyond this a duration is as good as endless, and nanoseconds still fit 64 bits.
constexpr double kMaxSeconds = 1e9;

double multiplier_of(const Json& params) {
  const double multiplier = params.at("mult");
  if (multiplier > 0 && multiplier <= kMaxMultiplier) return multiplier;
  throw bad_parameters(fmt::format("parameter 'mult' must be above 0 and at most {:g}, not {}",
                                   kMaxMultiplier, multiplier));
}

double seconds_of(const Json& params, const char* name) {
  return std::clamp(params.value(name, 0.0), -1.0, kMaxSeconds);
}

Json upload(ControlState& state, const Json& params) {
  const bool known = state.profiles.upload(
      params.at("profile_id").get_ref<const std::string&>(),
      params.at("fragment").get_ref<const std::string&>(), params.value("frag_first", false),
      params.value("frag_last", false), params.value("md5", ""));
  return known ? Json{{"matches_loaded", true}} : Json::object();
}

Json start_profile(ControlState& state, const Json& params) {
  StartOptions options;
  options.multiplier = multiplier_of(params);
  options.duration_s = seconds_of(params, "duration");
  options.no_close = params.at("nc");
  options.ipv6 = params.value("ipv6", false);
  options.client_mask =
      static_cast<uint32_t>(integer_or(options.client_mask, params, "client_mask", 0, UINT32_MAX));
  options.topology = state.topology.topology();
  options.establish_limit_s = seconds_of(params, "e_duration");
  options.drain_limit_s = seconds_of(params, "t_duration");
  options.sample_interval_s = std::min(params.value("dump_interval", 0.0), kMaxSeconds);
  options.latency_rate = params.value("latency_pps", 0.0);
  if (state.service.enabled)
    throw refused("Service mode is on, in which no flow receives anything: turn it off first");
  state.profiles.start(params.at("profile_id"), options);
  return Json::object();
}

Json sync(const ControlState& state) {
  Json states = Json::object();
  for (const auto& [id, slot] : state.profiles.profiles())
    states[id] = static_cast<int>(slot.state);
  return {{"epoch", state.profiles.epoch()},
          {"state", static_cast<int>(state.profiles.state())},
          {"state_profile", std::move(states)}};
}

Json profile_list(const ControlState& state) {
  Json list = Json::array();
  for (const auto& [id, slot] : state.profiles.profiles()) list.push_back(id);
  return list;
}

/// Which part of an address range each core serves, by client port.
Json traffic_distribution(const ControlState& state, const Json& params) {
  AddressRange range;
  range.first = ipv4_of(params, "start_ip");
  range.last = ipv4_of(params, "end_ip");
  range.pair_offset = ipv4_of(params, "dual_ip");
  range.per_core = params.at("seq_split");
  if (range.last < range.first) throw bad_parameters("'end_ip' must not be below 'start_ip'");

  const uint32_t threads = state.engine.cores.count();
  const auto pairs = static_cast<uint32_t>(state.engine.ports.infos().size() / 2);
  Json ports = Json::object();
  for (uint32_t thread = 0; thread < threads; ++thread) {
    const AddressSlice slice = slice_of(range, thread, threads, pairs);
    ports[std::to_string(2 * (thread % pairs))][std::to_string(thread)] = {
        {"start", ipv4_text(slice.first)}, {"end", ipv4_text(slice.first + slice.count - 1)}};
  }
  return ports;
}

}  // namespace

void add_profile_methods(MethodTable& methods, ControlState& state) {
  methods.add("sync", Access::reader, {}, [&state](const Json&) { return sync(state); });
  methods.add("inc_epoch", Access::owner, {}, [&state](const Json&) {
    state.profiles.advance_epoch();
    return Json{{"epoch", state.profiles.epoch()}};
  });

  methods.add("profile_fragment", Access::owner,
              {{"profile_id", string},
               {"fragment", string},
               optional("frag_first", boolean),
               optional("frag_last", boolean),
               optional("md5", string)},
              [&state](const Json& params) { return upload(state, params); });
  methods.add("profile_clear", Access::owner, {{"profile_id", string}},
              [&state](const Json& params) {
                state.profiles.clear(params.at("profile_id"));
                return Json::object();
              });

  methods.add("start", Access::owner,
              {{"profile_id", string},
               {"mult", number},
               {"nc", boolean},
               {"duration", number},
               optional("latency_pps", number),
               optional("ipv6", boolean),
               optional("client_mask", integer),
               optional("e_duration", number),
               optional("t_duration", number),
               optional("dump_interval", number)},
              [&state](const Json& params) { return start_profile(state, params); });
  methods.add("stop", Access::owner, {{"profile_id", string}}, [&state](const Json& params) {
    state.profiles.stop(params.at("profile_id"));
    return Json::object();
  });
  methods.add("update", Access::owner, {{"profile_id", string}, {"mult", number}},
              [&state](const Json& params) {
                state.profiles.update(params.at("profile_id"), multiplier_of(params));
                return Json::object();
              });

  methods.add("get_profile_list", Access::reader, {},
              [&state](const Json&) { return profile_list(state); });
  methods.add("get_flow_info", Access::reader, {{"profile_id", string}, optional("index", integer)},
              [&state](const Json& params) {
                const uint64_t first = integer_or(0, params, "index", 0, UINT64_MAX);
                return state.profiles.find(params.at("profile_id")).flow_samples.from(first);
              });
  methods.add(
      "get_traffic_dist", Access::reader,
      {{"start_ip", string}, {"end_ip", string}, {"dual_ip", string}, {"seq_split", boolean}},
      [&state](const Json& params) {
        try {
          return traffic_distribution(state, params);
        } catch (const ProfileError& error) {
          throw refused(error.what());
        }
      });
}

}  // namespace engine
