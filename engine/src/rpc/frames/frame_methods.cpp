// Single frames: seen, kept, written, sent.

#include <fmt/format.h>

#include "json/base64.h"
#include "net/ethernet.h"
#include "rpc/methods.h"

namespace engine {

namespace {

using enum ParameterType;

// -- Service mode, and queues of the packets received in it.

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

// -- Captures: started, fetched, stopped.

constexpr uint64_t kMostFetched = 10'000;

std::vector<uint32_t> ports_in(const ControlState& state, const Json& params, const char* name) {
  std::vector<uint32_t> ports;
  for (const Json& port : params.at(name)) ports.push_back(state.port_of({{"port_id", port}}));
  return ports;
}

uint32_t snap_length_of(const Json& params) {
  return static_cast<uint32_t>(integer_or(0, params, "snaplen", 0, kLongestSnap));
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
  request.limit = integer_in(params, "limit", 1, Captures::kMostFrames);
  request.cyclic = mode == "cyclic";
  request.snap_length = snap_length_of(params);
  const uint32_t id = state.captures.start(request);
  return {{"capture_id", id}, {"start_ts", state.captures.start_time(id)}};
}

Json fetch_capture(ControlState& state, uint32_t id, const Json& params) {
  check_parameters(params, {{"pkt_limit", integer}, optional("snaplen", integer)});
  const uint64_t most = integer_in(params, "pkt_limit", 1, kMostFetched);
  return state.captures.fetch(id, most, snap_length_of(params));
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

// -- Files of what ports send and receive: begun, asked about, ended.

constexpr uint64_t kUsualBytes = 100'000'000;
constexpr uint64_t kLeastBytes = 1'000;
constexpr uint64_t kMostBytes = 1'000'000'000'000;

Json start_pcap(ControlState& state, const Json& params) {
  PcapFiles::Request request;
  request.port = state.port_of(params);
  request.name = params.at("file");
  request.filter = params.value("filter", "");
  request.limit_bytes = integer_or(kUsualBytes, params, "limit_bytes", kLeastBytes, kMostBytes);
  request.snap_length = static_cast<uint32_t>(integer_or(0, params, "snaplen", 0, kLongestSnap));
  return state.pcap_files.start(request);
}

// -- Single packets that clients have sent.

/// The longest packet that TRex takes in push_pkts, without FCS; the shortest is a header.
constexpr size_t kLongestSent = 9 * 1024 + 22;

std::vector<uint8_t> frame_of(const PortState& port, const Json& packet) {
  check_parameters(
      packet, {{"binary", string}, {"use_port_dst_mac", boolean}, {"use_port_src_mac", boolean}});
  const auto bytes = decode_base64(packet.at("binary").get<std::string>());
  if (!bytes) throw bad_parameters("parameter 'binary' is not base64");
  if (bytes->size() < kEthernetLength || bytes->size() > kLongestSent)
    throw refused(fmt::format("Bad packet size provided: {}. Should be between {} and {}",
                              bytes->size(), kEthernetLength, kLongestSent));
  std::vector<uint8_t> frame(bytes->begin(), bytes->end());
  // Unresolved: all zero, as TRex sends it.
  if (packet.at("use_port_dst_mac").get<bool>()) std::ranges::copy(port.destination, frame.begin());
  if (packet.at("use_port_src_mac").get<bool>())
    std::ranges::copy(port.address.mac, frame.begin() + 6);
  return frame;
}

Json push_packets(ControlState& state, const Json& params) {
  const uint32_t port = state.port_of(params);
  const double gap_s = static_cast<double>(integer_or(0, params, "ipg_usec", 0, UINT32_MAX)) / 1e6;
  const Json& packets = params.at("pkts");
  if (static_cast<double>(packets.size()) * gap_s > 1)
    throw bad_parameters("TX batch total transmit time exceeds the limit of 1 second");
  const PortState port_state = state.engine.ports.state(port);
  std::vector<std::vector<uint8_t>> frames;
  for (const Json& packet : packets) frames.push_back(frame_of(port_state, packet));
  const double now = state.engine.clock.now();
  return {{"sent", state.paced_frames.send(port, std::move(frames), gap_s)}, {"ts", now}};
}

}  // namespace

void add_frame_methods(MethodTable& methods, ControlState& state) {
  // Service mode.
  methods.add("service", Access::owner,
              {{"enabled", boolean}, optional("filtered", boolean), optional("mask", integer)},
              [&state](const Json& params) { return set_service_mode(state, params); });
  methods.add("set_rx_feature", Access::port_owner,
              {{"type", string}, {"enabled", boolean}, optional("size", integer)},
              [&state](const Json& params) { return set_rx_feature(state, params); });
  methods.add("get_rx_queue_pkts", Access::port_owner, {},
              [&state](const Json& params) { return received_packets(state, params); });

  // Captures.
  methods.add("capture", Access::reader, {{"command", string}},
              [&state](const Json& params) { return capture(state, params); });

  // Capture files.
  methods.add("stackcost_start_pcap", Access::port_owner,
              {{"file", string},
               optional("filter", string),
               optional("snaplen", integer),
               optional("limit_bytes", integer)},
              [&state](const Json& params) { return start_pcap(state, params); });
  methods.add("stackcost_stop_pcap", Access::port_owner, {}, [&state](const Json& params) {
    return state.pcap_files.stop(state.port_of(params));
  });
  methods.add("stackcost_get_pcap", Access::reader, {}, [&state](const Json&) {
    state.watches.collect();
    state.pcap_files.advance();
    return state.pcap_files.status();
  });

  // Packets to send.
  methods.add("push_pkts", Access::reader,
              {{"port_id", integer}, {"pkts", array}, optional("ipg_usec", integer)},
              [&state](const Json& params) { return push_packets(state, params); });
}

}  // namespace engine
