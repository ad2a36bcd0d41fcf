// Single packets: service mode, captures, sending. Captures and sending are not there yet.

#include "rpc/control.h"
#include "rpc/rpc_error.h"

namespace engine {

namespace {

using enum ParameterType;

constexpr int64_t kNoTcpUdp = 1;  ///< bit of `mask`: everything but TCP and UDP

/// Service mode gives the slow path all that arrives; without traffic nothing else arrives anyway.
Json set_service_mode(ControlState& state, const Json& params) {
  const bool enabled = params.at("enabled");
  if (params.at("filtered").get<bool>())
    throw refused("TRex must be at --software mode for filtered service!");
  if (!enabled && params.contains("mask") && (params["mask"].get<int64_t>() & kNoTcpUdp) == 0)
    throw refused("Cannot disable no_tcp_udp in ASTF!");
  if (enabled && state.profiles.any_running())
    throw refused("Service mode is not supported while traffic runs: stop it first");
  state.service_mode = enabled;
  return Json::object();
}

Json set_rx_feature(const Json& params) {
  if (params.at("enabled").get<bool>())
    throw refused("Queues of received packets are not supported");
  return Json::object();
}

Json capture(const Json& params) {
  const std::string command = params.at("command");
  if (command == "status") return Json::array();
  if (command == "start") throw refused("Captures are not supported by this engine yet");
  if (command == "stop" || command == "fetch" || command == "remove")
    throw refused("capture ID " + dump_json(params.value("capture_id", Json())) +
                  " does not exist");
  throw bad_parameters("parameter 'command' must be start, stop, fetch, status or remove");
}

}  // namespace

void add_packet_methods(MethodTable& methods, ControlState& state) {
  methods.add("service", Access::owner,
              {{"enabled", boolean}, {"filtered", boolean}, optional("mask", integer)},
              [&state](const Json& params) { return set_service_mode(state, params); });

  methods.add("set_rx_feature", Access::port_owner, {{"type", string}, {"enabled", boolean}},
              [](const Json& params) { return set_rx_feature(params); });

  methods.add("capture", Access::reader, {{"command", string}},
              [](const Json& params) { return capture(params); });

  methods.add("push_pkts", Access::port_owner, {{"pkts", array}}, [](const Json&) -> Json {
    throw refused("Sending single packets is not supported by this engine yet");
  });
}

}  // namespace engine
