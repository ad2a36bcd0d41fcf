// Service mode, and queues of the packets received in it.

#include <fmt/format.h>

#include "rpc/methods.h"

namespace engine {

namespace {

using enum ParameterType;

Json set_service_mode(ControlState& state, const Json& params) {
  ServiceMode mode;
  mode.enabled = params.at("enabled");
  mode.filtered = params.value("filtered", false);
  mode.kinds =
      static_cast<uint8_t>(params.value("mask", 0) == 0 ? 0 : integer_in(params, "mask", 1, 255));
  if (mode.filtered && (mode.kinds & kNoTcpUdp) == 0)
    throw refused("Cannot disable no_tcp_udp in ASTF!");
  state.engine.frames.set_service(mode);
  state.service = mode;
  return Json::object();
}

/// In the language of tcpdump: what a filtered service mode gives to the slow path.
std::string filter_of(const ServiceMode& mode) {
  if (mode.enabled) return "";
  std::string kinds = "not (tcp or udp)";
  if (mode.kinds & kBgp) kinds += " or (tcp port 179)";
  if (mode.kinds & kDhcp)
    kinds +=
        " or (ip and (udp port 67 or udp port 68)) or (ip6 and (udp port 546 or udp port 547))";
  if (mode.kinds & kTransport) kinds += " or portrange 65280-65535";
  if (mode.kinds & kMdns) kinds += " or (udp port 5353)";
  return fmt::format("(not vlan and ({0})) or (vlan and ({0}))", kinds);
}

Json set_rx_feature(ControlState& state, const Json& params) {
  const std::string type = params.at("type");
  if (type != "queue")
    throw refused(fmt::format("receive feature '{}' is not supported, only 'queue' is", type));
  const uint32_t port = state.port_of(params);
  if (!params.at("enabled").get<bool>()) {
    state.captures.stop_queue(port);
    return Json::object();
  }
  if (!state.service.enabled && !state.service.filtered)
    throw refused("setting RX queue is only available under service mode");
  if (params.value("size", 0) == 0) throw bad_parameters("queue size cannot be zero");
  state.captures.start_queue(port, integer_in(params, "size", 1, Captures::kMostFrames),
                             filter_of(state.service));
  return Json::object();
}

Json received_packets(ControlState& state, const Json& params) {
  if (!state.service.enabled && !state.service.filtered)
    throw refused("fetching RX queue packets is only available under service mode");
  return {{"pkts", state.captures.take_queue(state.port_of(params))}};
}

}  // namespace

void add_service_methods(MethodTable& methods, ControlState& state) {
  methods.add("service", Access::owner,
              {{"enabled", boolean}, optional("filtered", boolean), optional("mask", integer)},
              [&state](const Json& params) { return set_service_mode(state, params); });
  methods.add("set_rx_feature", Access::port_owner,
              {{"type", string}, {"enabled", boolean}, optional("size", integer)},
              [&state](const Json& params) { return set_rx_feature(state, params); });
  methods.add("get_rx_queue_pkts", Access::port_owner, {},
              [&state](const Json& params) { return received_packets(state, params); });
}

}  // namespace engine
