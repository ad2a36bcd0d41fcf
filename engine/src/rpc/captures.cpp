#include "rpc/captures.h"

#include <fmt/format.h>

#include <algorithm>

#include "control/config.h"
#include "json/base64.h"
#include "rpc/methods.h"
#include "rpc/rpc_error.h"

namespace engine {

namespace {

double seconds(Nanoseconds time) {
  return static_cast<double>(time) / kSecond;
}

PortMask port_mask(const std::vector<uint32_t>& ports) {
  PortMask mask = 0;
  for (const uint32_t port : ports) mask |= PortMask{1} << port;
  return mask;
}

/// What is kept of a frame beside its bytes, and what the allocator adds.
constexpr uint64_t kBytesPerFrame = 80;
/// Without its FCS.
constexpr uint64_t kShortestFrame = 60;
/// What an answer says of a frame beside its bytes.
constexpr uint64_t kTextPerFrame = 200;

std::string encode(std::span<const uint8_t> bytes) {
  return encode_base64({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
}

}  // namespace

// -- Looking

Captures::Capture& Captures::begin(CaptureMap& captures, uint32_t key,
                                   const CaptureRequest& request) {
  static_assert(kBytesPerFrame >= sizeof(KeptFrame) + 2 * sizeof(size_t));
  const uint64_t shortest = request.snap_length == 0
                                ? kShortestFrame
                                : std::min<uint64_t>(request.snap_length, kShortestFrame);
  budgets_.captures.require(
      request.limit * (kBytesPerFrame + shortest),
      fmt::format("a capture of {} frames, were they the shortest there are,", request.limit));
  const auto entry = captures
                         .emplace(key, Capture{.request = request,
                                               .memory = Charge(budgets_.captures),
                                               .started = clock_.now()})
                         .first;
  Capture& capture = entry->second;
  try {
    capture.tap = taps_.begin({.transmitting = request.transmitting,
                               .receiving = request.receiving,
                               .filter = request.filter,
                               .snap_length = request.snap_length,
                               .budget = request.cyclic ? UINT64_MAX : request.limit},
                              [&capture](const SeenFrame& seen) { keep(capture, seen); });
  } catch (...) {
    captures.erase(entry);
    throw;
  }
  return capture;
}

void Captures::end(Capture& capture) {
  if (std::exchange(capture.active, false)) taps_.end(capture.tap);
}

void Captures::drop_oldest(Capture& capture) {
  const KeptFrame& oldest = capture.frames.front();
  capture.wire_bytes -= oldest.wire_length;
  capture.memory.shrink(kBytesPerFrame + oldest.bytes.size());
  capture.frames.pop_front();
}

void Captures::keep(Capture& capture, const SeenFrame& seen) {
  ++capture.matched;
  const bool cyclic = capture.request.cyclic;
  if (capture.frames.size() >= capture.request.limit) {
    if (!cyclic || capture.frames.empty()) return;
    drop_oldest(capture);
  }
  const auto bytes = snapped(seen.bytes, capture.request.snap_length);
  while (!capture.memory.grow(kBytesPerFrame + bytes.size())) {
    ++capture.without_memory;
    if (!cyclic || capture.frames.empty()) return;
    drop_oldest(capture);
  }
  capture.frames.push_back({.time = seen.time,
                            .index = capture.matched,
                            .port = seen.port,
                            .wire_length = seen.wire_length,
                            .transmitted = seen.transmitted,
                            .bytes = {bytes.begin(), bytes.end()}});
  capture.wire_bytes += seen.wire_length;
}

Json Captures::take(Capture& capture, size_t most, uint32_t snap_length) const {
  Json frames = Json::array();
  uint64_t text = 0;
  while (frames.size() < most && !capture.frames.empty()) {
    const KeptFrame& oldest = capture.frames.front();
    const auto bytes = snapped(oldest.bytes, snap_length);
    text += kTextPerFrame + bytes.size() * 4 / 3;
    if (text > budgets_.replies.left()) {
      if (frames.empty()) budgets_.replies.require(text, "a captured frame");
      break;
    }
    frames.push_back({{"binary", encode(bytes)},
                      {"origin", oldest.transmitted ? "TX" : "RX"},
                      {"ts", seconds(oldest.time)},
                      {"index", oldest.index},
                      {"port", oldest.port},
                      {"wirelen", oldest.wire_length}});
    drop_oldest(capture);
  }
  capture.fetched += frames.size();
  return frames;
}

// -- Captures

Captures::Capture& Captures::find(uint32_t id) {
  const auto found = captures_.find(id);
  if (found == captures_.end()) throw refused(fmt::format("capture ID {} does not exist", id));
  return found->second;
}

uint32_t Captures::start(const CaptureRequest& request) {
  if (captures_.size() == kMost)
    throw refused(
        fmt::format("capture limit of {} is reached: remove one first ('capture clear')", kMost));
  begin(captures_, last_id_ + 1, request);
  return ++last_id_;
}

size_t Captures::stop(uint32_t id) {
  Capture& capture = find(id);
  end(capture);
  return capture.frames.size();
}

void Captures::remove(uint32_t id) {
  end(find(id));
  captures_.erase(id);
}

Json Captures::fetch(uint32_t id, size_t most, uint32_t snap_length) {
  Capture& capture = find(id);
  taps_.collect();
  Json frames = take(capture, most, snap_length);
  return {{"pending", capture.frames.size()},
          {"start_ts", capture.started},
          {"pkts", std::move(frames)}};
}

Json Captures::status() {
  taps_.collect();
  Json all = Json::array();
  for (const auto& [id, capture] : captures_)
    all.push_back({{"id", id},
                   {"state", capture.active ? "ACTIVE" : "STOPPED"},
                   {"matched", capture.matched},
                   {"fetched", capture.fetched},
                   {"count", capture.frames.size()},
                   {"bytes", capture.wire_bytes},
                   {"without_memory", capture.without_memory},
                   {"limit", capture.request.limit},
                   {"mode", capture.request.cyclic ? "cyclic" : "fixed"},
                   {"filter",
                    {{"tx", port_mask(capture.request.transmitting)},
                     {"rx", port_mask(capture.request.receiving)},
                     {"bpf", capture.request.filter}}}});
  return all;
}

// -- Queues

void Captures::start_queue(uint32_t port, uint64_t size, const std::string& filter) {
  stop_queue(port);
  CaptureRequest request;
  request.receiving = {port};
  request.filter = filter;
  request.limit = size;
  request.cyclic = true;
  begin(queues_, port, request);
}

void Captures::stop_queue(uint32_t port) {
  const auto found = queues_.find(port);
  if (found == queues_.end()) return;
  end(found->second);
  queues_.erase(found);
}

Json Captures::take_queue(uint32_t port) {
  taps_.collect();
  const auto found = queues_.find(port);
  return found == queues_.end() ? Json::array() : take(found->second, SIZE_MAX, 0);
}

Json Captures::queue_status(uint32_t port) const {
  const auto found = queues_.find(port);
  if (found == queues_.end()) return {{"is_active", false}};
  return {{"is_active", true},
          {"size", found->second.request.limit},
          {"count", found->second.frames.size()}};
}

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
  // Each "vlan" moves what follows it by a tag, wherever it stands; offsets of "ether" stay.
  constexpr const char* kTag = "(ether[{0}:2] = 0x8100 or ether[{0}:2] = 0x88a8)";
  return fmt::format("(({0}) and not {1}) or (vlan and ({0}) and not {2}) or (vlan and ({0}))",
                     kinds, fmt::format(kTag, 12), fmt::format(kTag, 16));
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

}  // namespace

void add_capture_methods(MethodTable& methods, ControlState& state) {
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
}

}  // namespace engine
