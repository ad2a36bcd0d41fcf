#include "rpc/ports.h"

#include <fmt/format.h>

#include <algorithm>

#include "net/address_text.h"
#include "net/ethernet.h"
#include "net/icmpv6.h"
#include "rpc/method_table.h"
#include "rpc/methods.h"

namespace engine {

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

}  // namespace

void add_port_methods(MethodTable& methods, ControlState& state) {
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
}

}  // namespace engine
