// Profiles, from their upload to the end of their runs.

#include <fmt/format.h>

#include <algorithm>

#include "astf/address_pool.h"
#include "net/address_text.h"
#include "rpc/method_table.h"
#include "rpc/methods.h"

namespace engine {

namespace {

using enum ParameterType;

// -- Profiles and traffic.

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
  options.latency = state.tunnels.latency();
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

// -- Runs of profiles beyond what TRex tells; docs/rpc-extensions.md describes it.

constexpr double kMaxRampSeconds = 86'400;

Json schedule(const RunStatus& run) {
  return {{"intended", run.intended},
          {"opened", run.opened},
          {"late", run.late},
          {"unsent", run.unsent}};
}

Json notices(const ProfileSlot& slot) {
  std::vector<std::string> all =
      slot.source.parsed ? slot.source.parsed->notices : std::vector<std::string>{};
  all.insert(all.end(), slot.notices.begin(), slot.notices.end());
  return {{"notices", all}};
}

Json held_flows(const RunStatus& run) {
  return {{"wanted", run.held_wanted},
          {"open", run.client_flows},
          {"opened", run.held_opened},
          {"refused", run.held_refused}};
}

// -- Which of the profiles' clients open flows.

/// Clients asked for at once: each is an entry of the answer.
constexpr uint64_t kMaxClients = 100'000;
/// "4294967295":{"Found":1,"state":"Inactive"},
constexpr uint64_t kTextPerClient = 45;

AddressRanges addresses_of(const Json& params) {
  const bool in_ranges = params.at("is_range");
  const char* first_name = in_ranges ? "client_start_ip" : "client_ip";
  const char* last_name = in_ranges ? "client_end_ip" : "client_ip";
  AddressRanges addresses;
  for (const Json& entry : params.at("attr")) {
    check_parameters(entry, {{first_name, integer}, {last_name, integer}});
    const uint64_t first = integer_in(entry, first_name, 0, UINT32_MAX);
    const uint64_t last = integer_in(entry, last_name, first, UINT32_MAX);
    addresses.add(static_cast<uint32_t>(first), static_cast<uint32_t>(last));
  }
  return addresses;
}

uint64_t count_of(const AddressRanges& addresses) {
  uint64_t count = 0;
  for (const auto& [first, last] : addresses.ranges()) count += uint64_t{last} - first + 1;
  return count;
}

void ask_for(ControlState& state, AddressRanges addresses) {
  if (state.clients_asked)
    throw refused(
        "Getting client info has already started, use get_clients_info_pull to collect the info");
  if (const uint64_t count = count_of(addresses); count > kMaxClients)
    throw bad_parameters(
        fmt::format("{} clients are asked for; ask for at most {} at a time", count, kMaxClients));
  state.clients_asked = std::move(addresses);
}

/// As TRex tells them, by address as a number in decimal.
Json information(const ClientAddresses& clients, const AddressRanges& asked) {
  Json all = Json::object();
  for (const auto& [first, last] : asked.ranges())
    for (uint64_t address = first; address <= last; ++address) {
      const auto client = static_cast<uint32_t>(address);
      Json& entry = all[std::to_string(client)];
      if (!clients.known.has(client))
        entry = {{"Found", 0}};
      else
        entry = {{"Found", 1}, {"state", clients.disabled.has(client) ? "Inactive" : "Active"}};
    }
  return all;
}

// -- Whether received payload is what the profile says; docs/rpc-extensions.md describes it.

Json counts(const PayloadCounts& counts) {
  return {{"compared_bytes", counts.compared_bytes},
          {"mismatched_bytes", counts.mismatched_bytes},
          {"unknown_bytes", counts.unknown_bytes},
          {"mismatched_flows", counts.mismatched_flows}};
}

Json payload_check(ControlState& state, const std::string& id) {
  Json templates = Json::array();
  const RunReport report = state.profiles.report(id);
  for (const PayloadBlock& block : report.payload)
    templates.push_back({{"template", templates.size()},
                         {"client", counts(block.sides[index_of(Side::client)])},
                         {"server", counts(block.sides[index_of(Side::server)])}});
  return {{"templates", std::move(templates)}};
}

}  // namespace

void add_profile_methods(MethodTable& methods, ControlState& state) {
  // Profiles and traffic.
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

  // Runs.
  methods.add("stackcost_get_notices", Access::reader, {{"profile_id", string}},
              [&state](const Json& params) {
                return notices(state.profiles.find(params.at("profile_id")));
              });
  methods.add("stackcost_get_schedule", Access::reader, {{"profile_id", string}},
              [&state](const Json& params) {
                return schedule(state.profiles.run_status(params.at("profile_id")));
              });
  methods.add("stackcost_hold_flows", Access::owner,
              {{"profile_id", string}, {"flows", integer}, optional("ramp_s", number)},
              [&state](const Json& params) {
                const double ramp_s = params.value("ramp_s", 0.0);
                if (ramp_s < 0 || ramp_s > kMaxRampSeconds)
                  throw bad_parameters("parameter 'ramp_s' must be from 0 to 86400 seconds");
                state.profiles.hold(params.at("profile_id"),
                                    integer_in(params, "flows", 0, UINT32_MAX), ramp_s);
                return Json::object();
              });
  methods.add("stackcost_get_held_flows", Access::reader, {{"profile_id", string}},
              [&state](const Json& params) {
                return held_flows(state.profiles.run_status(params.at("profile_id")));
              });

  // Clients.
  methods.add("enable_disable_client", Access::reader,
              {{"is_enable", boolean}, {"is_range", boolean}, {"attr", array}},
              [&state](const Json& params) {
                state.engine.runs.enable_clients(addresses_of(params), params.at("is_enable"));
                return Json::object();
              });

  // In two steps, since TRex's cores answer later than its control thread does.
  methods.add("get_clients_info_start", Access::reader, {{"is_range", boolean}, {"attr", array}},
              [&state](const Json& params) {
                ask_for(state, addresses_of(params));
                return Json::object();
              });
  methods.add("get_clients_info_pull", Access::reader, {}, [&state](const Json&) {
    if (!state.clients_asked)
      throw refused("get_clients_info_start has to be called before get_clients_info_pull");
    state.budgets.replies.require(count_of(*state.clients_asked) * kTextPerClient,
                                  "what is told of these clients");
    return information(state.engine.runs.clients(),
                       *std::exchange(state.clients_asked, std::nullopt));
  });

  // Payload check.
  methods.add("stackcost_set_payload_check", Access::owner,
              {{"profile_id", string}, {"enabled", boolean}, optional("skip_bytes", integer)},
              [&state](const Json& params) {
                PayloadCheckOptions check{.enabled = params.at("enabled")};
                check.skip_bytes =
                    integer_or(check.skip_bytes, params, "skip_bytes", 0, UINT32_MAX);
                state.profiles.set_payload_check(params.at("profile_id"), check);
                return Json::object();
              });
  methods.add(
      "stackcost_get_payload_check", Access::reader, {{"profile_id", string}},
      [&state](const Json& params) { return payload_check(state, params.at("profile_id")); });
}

}  // namespace engine
