#include "rpc/ports.h"

#include <fmt/format.h>

#include <algorithm>

#include "astf/profile.h"
#include "net/address_text.h"
#include "net/ethernet.h"
#include "net/icmpv6.h"
#include "rpc/method_table.h"
#include "rpc/methods.h"

namespace engine {

namespace {

/// After the first one, a second's worth. They are counted, so that a machine that was busy
/// elsewhere for that second does not take its gateway for silent.
constexpr int kLooks = 1 + 100;

}  // namespace

PortMask client_ports(const Ports& ports) {
  PortMask mask = 0;
  for (uint32_t port = 0; port < ports.infos().size(); port += 2)
    if (!ports.infos()[port].is_dummy) mask |= PortMask{1} << port;
  return mask;
}

bool Resolution::advance(double now) {
  if (missing_ == 0) return true;
  if (now < next_look_) return false;
  next_look_ = now + kLookPeriod;
  ++looks_;
  for (uint32_t port = 0; port < ports_->infos().size(); ++port) {
    const PortMask bit = PortMask{1} << port;
    if ((missing_ & bit) == 0) continue;
    const PortState state = ports_->state(port);
    if (state.resolved) {
      missing_ &= ~bit;
      continue;
    }
    const PortAddress& address = state.address;
    if (!address.gateway && !address.ipv6_gateway)
      throw ProfileError(fmt::format(
          "port {} has no destination: give it default_gw, default_gw_ipv6 or dest_mac in the "
          "configuration",
          port));
    if (looks_ >= kLooks)
      throw ProfileError(fmt::format(
          "port {}: its gateway does not answer {}; see that the other side is up, has that "
          "address and is on the same link",
          port, address.gateway ? "ARP" : "neighbour solicitations"));
  }
  return missing_ == 0;
}

namespace {

constexpr int kGratuitousArpSeconds = 120;

Json ether_layer(const PortState& port) {
  Json layer = {{"src", mac_text(port.address.mac)},
                {"state", port.resolved ? "configured" : "unconfigured"}};
  if (port.resolved) layer["dst"] = mac_text(port.destination);
  return layer;
}

Json ipv4_layer(const PortState& port) {
  if (!port.address.ipv4) return {{"state", "none"}};
  return {{"state", port.resolved ? "resolved" : "unresolved"},
          {"src", ipv4_text(*port.address.ipv4)},
          {"dst", ipv4_text(port.address.gateway.value_or(0))}};
}

Json ipv6_layer(const PortAddress& address) {
  if (!address.ipv6) return {{"enabled", false}};
  return {{"enabled", true},
          {"src", ipv6_text(address.ipv6_address.value_or(link_local(address.mac)))}};
}

Json inactive() {
  return {{"is_active", false}};
}

}  // namespace

Json port_attributes(const ControlState& state, uint32_t port) {
  const PortState now = state.engine.ports.state(port);
  Json vlan = {{"tags", Json::array()}, {"tpids", Json::array()}};
  for (const uint32_t tag : {now.address.tags.outer, now.address.tags.inner}) {
    if (tag == 0) break;
    vlan["tags"].push_back(tag & kVlanIdMask);
    vlan["tpids"].push_back(tag >> 16);
  }
  return {
      {"promiscuous", {{"enabled", now.promiscuous}}},
      {"multicast", {{"enabled", bool{state.multicast[port]}}}},
      {"link", {{"up", now.link_up}}},
      {"speed", state.engine.ports.infos()[port].speed_mbps / 1000.0},
      {"rx_filter_mode", now.promiscuous || state.service.enabled ? "all" : "hw"},
      {"vxlan_fs", Json::array()},
      {"fc", {{"mode", now.flow_control.value_or(0)}}},
      {"layer_cfg",
       {{"ether", ether_layer(now)}, {"ipv4", ipv4_layer(now)}, {"ipv6", ipv6_layer(now.address)}}},
      {"vlan", std::move(vlan)}};
}

Json port_status(const ControlState& state, uint32_t port) {
  Json grat_arp = inactive();
  if (state.engine.ports.state(port).address.ipv4)
    grat_arp = {{"is_active", true}, {"interval_sec", kGratuitousArpSeconds}};
  return {{"owner", state.ownership.user()},
          {"state", port_state_name(state.profiles.state())},
          {"state_profile", Json::object()},
          {"service", state.service.enabled},
          {"service_filtered", state.service.filtered},
          {"profile_count", state.profiles.profiles().size()},
          {"max_stream_id", 0},
          {"attr", port_attributes(state, port)},
          {"rx_info",
           {{"latency", inactive()},
            {"queue", state.captures.queue_status(port)},
            {"stack", inactive()},
            {"grat_arp", std::move(grat_arp)},
            {"capture_port", inactive()}}}};
}

namespace {

using enum ParameterType;

// -- Ports: their state, addresses and attributes.

/// Names of the devices' own statistics on any port. TRex's client asks one port for the names and
/// takes them for every port's, whatever its kind.
Json extended_names(const Ports& ports) {
  Json names = Json::array();
  for (uint32_t port = 0; port < ports.infos().size(); ++port)
    for (const auto& [name, value] : ports.extended_statistics(port))
      if (std::ranges::find(names, Json(name)) == names.end()) names.push_back(name);
  return names;
}

Json set_l2(ControlState& state, const Json& params) {
  const uint32_t port = state.port_of(params);
  PortAddress address = state.engine.ports.state(port).address;
  address.ipv4.reset();
  address.gateway.reset();
  address.destination = mac_of(params, "dst_mac");
  state.engine.ports.configure(port, address);
  return Json::object();
}

Json set_l3(ControlState& state, const Json& params) {
  const uint32_t port = state.port_of(params);
  PortAddress address = state.engine.ports.state(port).address;
  address.ipv4 = ipv4_of(params, "src_addr");
  address.gateway = ipv4_of(params, "dst_addr");
  address.destination.reset();
  if (params.contains("resolved_mac")) address.destination = mac_of(params, "resolved_mac");
  state.engine.ports.configure(port, address);
  return Json::object();
}

Json set_vlan(ControlState& state, const Json& params) {
  const uint32_t port = state.port_of(params);
  PortAddress address = state.engine.ports.state(port).address;
  address.tags = vlan_tags_of(params, "vlan");
  state.engine.ports.configure(port, address);
  return Json::object();
}

/// As Linux does for TRex: once enabled, the port has its link-local address and `src_ipv6`.
Json conf_ipv6(ControlState& state, const Json& params) {
  const uint32_t port = state.port_of(params);
  PortAddress address = state.engine.ports.state(port).address;
  address.ipv6 = params.at("enabled");
  address.ipv6_address.reset();
  const std::string text = params.value("src_ipv6", "");
  if (address.ipv6 && !text.empty()) {
    address.ipv6_address = parse_ipv6(text);
    if (!address.ipv6_address || is_multicast(*address.ipv6_address))
      throw bad_parameters(
          fmt::format("parameter 'src_ipv6' must be a unicast IPv6 address, not '{}'", text));
  }
  state.engine.ports.configure(port, address);
  return Json::object();
}

constexpr uint64_t kPauseModes = 4;

void set_port_attribute(ControlState& state, uint32_t port, const std::string& name,
                        const Json& value) {
  const auto require = [&](bool done) {
    if (!done) throw refused(fmt::format("Port {}: its device cannot change '{}'", port, name));
  };
  if (name == "promiscuous") {
    check_parameters(value, {{"enabled", boolean}});
    state.engine.ports.set_promiscuous(port, value["enabled"]);
  } else if (name == "multicast") {  // received in any case
    check_parameters(value, {{"enabled", boolean}});
    state.multicast[port] = value["enabled"];
  } else if (name == "link_status") {
    check_parameters(value, {{"up", boolean}});
    require(state.engine.ports.set_link(port, value["up"]));
  } else if (name == "flow_ctrl_mode") {
    const auto mode = static_cast<int>(integer_in(value, "mode", 0, kPauseModes - 1));
    require(state.engine.ports.set_flow_control(port, mode));
  } else {
    require(false);
  }
}

Json set_port_attributes(ControlState& state, const Json& params) {
  const uint32_t port = state.port_of(params);
  for (const auto& [name, value] : params.at("attr").items())
    set_port_attribute(state, port, name, value);
  return Json::object();
}

// -- Senders that are not answered.

constexpr size_t kMaxIgnored = 1'000;
constexpr uint64_t kMaxMac = 0xffff'ffff'ffff;

/// A list of objects with one integer each, as clients send and read it.
Json checked_list(const Json& params, const char* list, const char* key, uint64_t highest) {
  const Json& entries = params.at(list);
  if (entries.size() > kMaxIgnored)
    throw bad_parameters(std::string("parameter '") + list + "' has more than " +
                         std::to_string(kMaxIgnored) + " entries");
  for (const Json& entry : entries) {
    check_parameters(entry, {{key, integer}});
    integer_in(entry, key, 0, highest);
  }
  return entries;
}

Ignored ignored_of(const ControlState& state) {
  Ignored ignored;
  for (const Json& entry : state.ignored_addresses) ignored.addresses.push_back(entry["ip"]);
  for (const Json& entry : state.ignored_macs) {
    MacAddress mac;
    const uint64_t bits = entry["mac_addr"];
    for (size_t i = 0; i < mac.size(); ++i) mac[i] = static_cast<uint8_t>(bits >> (40 - 8 * i));
    ignored.macs.push_back(mac);
  }
  std::ranges::sort(ignored.addresses);
  std::ranges::sort(ignored.macs);
  return ignored;
}

// -- What a network that is not perfect does to frames: set and read for each port and direction.

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

void add_port_methods(MethodTable& methods, ControlState& state) {
  // Ports.
  methods.add("get_port_status", Access::reader, {{"port_id", integer}},
              [&state](const Json& params) { return port_status(state, state.port_of(params)); });

  methods.add(
      "get_port_stats", Access::reader, {{"port_id", integer}},
      [&state](const Json& params) { return state.machine.port_stats(state.port_of(params)); });

  methods.add("get_port_xstats_names", Access::reader, {{"port_id", integer}},
              [&state](const Json& params) {
                state.port_of(params);  // refuses one that is not there
                Json names = extended_names(state.engine.ports);
                return Json{{"xstats_names", std::move(names)}};
              });
  methods.add("get_port_xstats_values", Access::reader, {{"port_id", integer}},
              [&state](const Json& params) {
                Json own = Json::object();
                for (const auto& [name, value] :
                     state.engine.ports.extended_statistics(state.port_of(params)))
                  own[name] = value;
                Json values = Json::array();
                for (const auto& name : extended_names(state.engine.ports))
                  values.push_back(own.value(name.get<std::string>(), uint64_t{0}));
                return Json{{"xstats_values", std::move(values)}};
              });

  methods.add("set_port_attr", Access::port_owner, {{"attr", object}},
              [&state](const Json& params) { return set_port_attributes(state, params); });
  methods.add("set_l2", Access::port_owner, {{"dst_mac", string}},
              [&state](const Json& params) { return set_l2(state, params); });
  methods.add("set_l3", Access::port_owner,
              {{"src_addr", string}, {"dst_addr", string}, optional("resolved_mac", string)},
              [&state](const Json& params) { return set_l3(state, params); });
  methods.add("set_vlan", Access::port_owner, {{"vlan", array}, optional("tpids", array)},
              [&state](const Json& params) { return set_vlan(state, params); });
  methods.add("conf_ipv6", Access::port_owner, {{"enabled", boolean}, optional("src_ipv6", string)},
              [&state](const Json& params) { return conf_ipv6(state, params); });

  // Senders that are not answered.
  methods.add("get_ignored_ips", Access::reader, {},
              [&state](const Json&) { return state.ignored_addresses; });
  methods.add("set_ignored_ips", Access::reader, {{"ip_list", array}},
              [&state](const Json& params) {
                state.ignored_addresses = checked_list(params, "ip_list", "ip", UINT32_MAX);
                state.engine.frames.set_ignored(ignored_of(state));
                return Json::object();
              });
  methods.add("get_ignored_macs", Access::reader, {},
              [&state](const Json&) { return state.ignored_macs; });
  methods.add("set_ignored_macs", Access::reader, {{"mac_list", array}},
              [&state](const Json& params) {
                state.ignored_macs = checked_list(params, "mac_list", "mac_addr", kMaxMac);
                state.engine.frames.set_ignored(ignored_of(state));
                return Json::object();
              });

  // Impairment.
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
