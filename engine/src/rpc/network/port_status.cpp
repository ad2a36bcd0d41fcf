#include "rpc/network/port_status.h"

#include "net/address_text.h"
#include "net/icmpv6.h"

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
  Json tags = Json::array();
  if (now.address.vlan != 0) tags.push_back(now.address.vlan);
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
      {"vlan", {{"tags", std::move(tags)}}}};
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

}  // namespace engine
