// Single packets: service mode, queues of received ones, captures, sending.

#include <fmt/format.h>

#include "astf/base64.h"
#include "rpc/control.h"
#include "rpc/rpc_error.h"

namespace engine {

namespace {

using enum ParameterType;

constexpr uint64_t kMostFrames = 1'000'000;
constexpr uint64_t kMostSnap = UINT16_MAX;
constexpr uint64_t kMostFetched = 10'000;

/// Packet sizes that TRex takes in push_pkts, without FCS.
constexpr size_t kShortestFrame = 14;
constexpr size_t kLongestFrame = 9 * 1024 + 22;

Json set_service_mode(ControlState& state, const Json& params) {
  ServiceMode mode;
  mode.enabled = params.at("enabled");
  mode.filtered = params.value("filtered", false);
  mode.kinds =
      static_cast<uint8_t>(params.value("mask", 0) == 0 ? 0 : integer_in(params, "mask", 1, 255));
  if (mode.filtered && (mode.kinds & kNoTcpUdp) == 0)
    throw refused("Cannot disable no_tcp_udp in ASTF!");
  state.engine.set_service(mode);
  state.service = mode;
  return Json::object();
}

// -- Queues of received packets
// ------------------------------------------------------------------------

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
  state.captures.start_queue(port, integer_in(params, "size", 1, kMostFrames),
                             filter_of(state.service));
  return Json::object();
}

Json received_packets(ControlState& state, const Json& params) {
  if (!state.service.enabled && !state.service.filtered)
    throw refused("fetching RX queue packets is only available under service mode");
  return {{"pkts", state.captures.take_queue(state.port_of(params))}};
}

// -- Captures
// ------------------------------------------------------------------------------------------

std::vector<uint32_t> ports_in(const ControlState& state, const Json& params, const char* name) {
  std::vector<uint32_t> ports;
  for (const Json& port : params.at(name)) ports.push_back(state.port_of({{"port_id", port}}));
  return ports;
}

Json start_capture(ControlState& state, const Json& params) {
  check_parameters(params, {{"limit", integer},
                            {"mode", string},
                            {"tx", array},
                            {"rx", array},
                            optional("filter", string),
                            optional("snaplen", integer),
                            optional("endpoint", string)});
  if (!params.value("endpoint", "").empty())
    throw refused("a capture is fetched from the server; endpoints are not supported");
  const std::string mode = params.at("mode");
  if (mode != "fixed" && mode != "cyclic")
    throw bad_parameters(fmt::format("parameter 'mode' must be fixed or cyclic, not '{}'", mode));
  CaptureRequest request;
  request.transmitting = ports_in(state, params, "tx");
  request.receiving = ports_in(state, params, "rx");
  request.filter = params.value("filter", "");
  request.limit = integer_in(params, "limit", 1, kMostFrames);
  request.cyclic = mode == "cyclic";
  if (params.contains("snaplen"))
    request.snap_length = static_cast<uint32_t>(integer_in(params, "snaplen", 0, kMostSnap));
  const uint32_t id = state.captures.start(request);
  return {{"capture_id", id}, {"start_ts", state.captures.start_time(id)}};
}

Json fetch_capture(ControlState& state, uint32_t id, const Json& params) {
  check_parameters(params, {{"pkt_limit", integer}, optional("snaplen", integer)});
  const uint64_t most = integer_in(params, "pkt_limit", 1, kMostFetched);
  const uint64_t snap =
      params.contains("snaplen") ? integer_in(params, "snaplen", 0, kMostSnap) : 0;
  return state.captures.fetch(id, most, static_cast<uint32_t>(snap));
}

Json capture(ControlState& state, const Json& params) {
  const std::string command = params.at("command");
  if (command == "status") return state.captures.status();
  if (command == "start") return start_capture(state, params);
  if (command != "stop" && command != "fetch" && command != "remove")
    throw bad_parameters("parameter 'command' must be start, stop, fetch, status or remove");
  check_parameters(params, {{"capture_id", integer}});
  const auto id = static_cast<uint32_t>(integer_in(params, "capture_id", 0, UINT32_MAX));
  if (command == "stop") return {{"pkt_count", state.captures.stop(id)}, {"endpoint", ""}};
  if (command == "fetch") return fetch_capture(state, id, params);
  state.captures.remove(id);
  return Json::object();
}

// -- Sending
// -------------------------------------------------------------------------------------------

std::vector<uint8_t> frame_of(const PortState& port, const Json& packet) {
  check_parameters(
      packet, {{"binary", string}, {"use_port_dst_mac", boolean}, {"use_port_src_mac", boolean}});
  const auto bytes = decode_base64(packet.at("binary").get<std::string>());
  if (!bytes) throw bad_parameters("parameter 'binary' is not base64");
  if (bytes->size() < kShortestFrame || bytes->size() > kLongestFrame)
    throw refused(fmt::format("Bad packet size provided: {}. Should be between {} and {}",
                              bytes->size(), kShortestFrame, kLongestFrame));
  std::vector<uint8_t> frame(bytes->begin(), bytes->end());
  // Unresolved: all zero, as TRex sends it.
  if (packet.at("use_port_dst_mac").get<bool>()) std::ranges::copy(port.destination, frame.begin());
  if (packet.at("use_port_src_mac").get<bool>())
    std::ranges::copy(port.address.mac, frame.begin() + 6);
  return frame;
}

Json push_packets(ControlState& state, const Json& params) {
  const uint32_t port = state.port_of(params);
  const double gap_s =
      params.contains("ipg_usec")
          ? static_cast<double>(integer_in(params, "ipg_usec", 0, UINT32_MAX)) / 1e6
          : 0;
  const Json& packets = params.at("pkts");
  if (static_cast<double>(packets.size()) * gap_s > 1)
    throw bad_parameters("TX batch total transmit time exceeds the limit of 1 second");
  const PortState port_state = state.engine.port_state(port);
  std::vector<std::vector<uint8_t>> frames;
  for (const Json& packet : packets) frames.push_back(frame_of(port_state, packet));
  const double now = state.engine.now();
  return {{"sent", state.paced_frames.send(port, std::move(frames), gap_s)}, {"ts", now}};
}

}  // namespace

void add_packet_methods(MethodTable& methods, ControlState& state) {
  methods.add("service", Access::owner,
              {{"enabled", boolean}, optional("filtered", boolean), optional("mask", integer)},
              [&state](const Json& params) { return set_service_mode(state, params); });

  methods.add("set_rx_feature", Access::port_owner,
              {{"type", string}, {"enabled", boolean}, optional("size", integer)},
              [&state](const Json& params) { return set_rx_feature(state, params); });
  methods.add("get_rx_queue_pkts", Access::port_owner, {},
              [&state](const Json& params) { return received_packets(state, params); });

  methods.add("capture", Access::reader, {{"command", string}},
              [&state](const Json& params) { return capture(state, params); });

  methods.add("push_pkts", Access::reader,
              {{"port_id", integer}, {"pkts", array}, optional("ipg_usec", integer)},
              [&state](const Json& params) { return push_packets(state, params); });
}

}  // namespace engine
