#include "rpc/captures.h"

#include <fmt/format.h>

#include <algorithm>

#include "astf/base64.h"
#include "rpc/rpc_error.h"

namespace engine {

namespace {

/// Watches of queues are numbered behind those of captures, by port.
constexpr uint32_t kFirstQueueWatch = Captures::kMost;

double seconds(Nanoseconds time) {
  return static_cast<double>(time) / kSecond;
}

uint64_t port_mask(const std::vector<uint32_t>& ports) {
  uint64_t mask = 0;
  for (const uint32_t port : ports) mask |= uint64_t{1} << port;
  return mask;
}

bool contains(const std::vector<uint32_t>& ports, uint32_t port) {
  return std::ranges::find(ports, port) != ports.end();
}

std::string encode(std::span<const uint8_t> bytes) {
  return encode_base64({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
}

}  // namespace

// -- Looking
// -------------------------------------------------------------------------------------------

Captures::Capture Captures::begin(const CaptureRequest& request, uint32_t watch) {
  const auto filter = PacketFilter::compile(request.filter);
  if (!filter)
    throw bad_parameters(fmt::format("BPF filter: '{}' is not a valid pattern", request.filter));
  Capture capture;
  capture.request = request;
  capture.watch = watch;
  capture.started = engine_.now();
  for (uint32_t port = 0; port < engine_.ports().size(); ++port) {
    Watch wanted{.number = watch,
                 .received = contains(request.receiving, port),
                 .transmitted = contains(request.transmitting, port),
                 .filter = *filter,
                 .snap_length = request.snap_length};
    if (!request.cyclic) wanted.budget = request.limit;
    if (wanted.received || wanted.transmitted) engine_.watch(port, wanted);
  }
  return capture;
}

void Captures::end(Capture& capture) {
  if (!capture.active) return;
  engine_.unwatch(capture.watch);
  collect();
  capture.active = false;
}

void Captures::collect() {
  engine_.read_seen([this](const SeenFrame& seen) {
    for (auto* group : {&captures_, &queues_})
      for (auto& [key, capture] : *group)
        if (capture.active && (seen.watches >> capture.watch & 1) != 0) keep(capture, seen);
  });
}

void Captures::keep(Capture& capture, const SeenFrame& seen) {
  ++capture.matched;
  if (capture.frames.size() >= capture.request.limit) {
    if (!capture.request.cyclic || capture.frames.empty()) return;
    capture.bytes -= capture.frames.front()["wirelen"].get<uint64_t>();
    capture.frames.pop_front();
  }
  const size_t snap =
      capture.request.snap_length == 0 ? seen.bytes.size() : capture.request.snap_length;
  Json frame = {{"binary", encode(seen.bytes.first(std::min(snap, seen.bytes.size())))},
                {"origin", seen.transmitted ? "TX" : "RX"},
                {"ts", seconds(seen.time)},
                {"index", capture.matched},
                {"port", seen.port},
                {"wirelen", seen.wire_length}};
  capture.bytes += seen.wire_length;
  capture.frames.push_back(std::move(frame));
}

bool Captures::active() const {
  return !queues_.empty() ||
         std::ranges::any_of(captures_, [](const auto& entry) { return entry.second.active; });
}

// -- Captures
// ------------------------------------------------------------------------------------------

uint32_t Captures::free_watch() const {
  uint32_t number = 0;
  while (std::ranges::any_of(captures_,
                             [&](const auto& entry) { return entry.second.watch == number; }))
    ++number;
  return number;
}

Captures::Capture& Captures::find(uint32_t id) {
  const auto found = captures_.find(id);
  if (found == captures_.end()) throw refused(fmt::format("capture ID {} does not exist", id));
  return found->second;
}

uint32_t Captures::start(const CaptureRequest& request) {
  if (captures_.size() == kMost)
    throw refused(
        fmt::format("capture limit of {} is reached: remove one first ('capture clear')", kMost));
  captures_.emplace(last_id_ + 1, begin(request, free_watch()));
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
  collect();
  Json frames = Json::array();
  while (frames.size() < most && !capture.frames.empty()) {
    Json frame = std::move(capture.frames.front());
    capture.frames.pop_front();
    capture.bytes -= frame["wirelen"].get<uint64_t>();
    if (snap_length != 0) {
      const std::string bytes = *decode_base64(frame["binary"].get<std::string>());
      frame["binary"] = encode_base64(std::string_view(bytes).substr(0, snap_length));
    }
    frames.push_back(std::move(frame));
  }
  capture.fetched += frames.size();
  return {{"pending", capture.frames.size()},
          {"start_ts", capture.started},
          {"pkts", std::move(frames)}};
}

Json Captures::status() {
  collect();
  Json all = Json::array();
  for (const auto& [id, capture] : captures_)
    all.push_back({{"id", id},
                   {"state", capture.active ? "ACTIVE" : "STOPPED"},
                   {"matched", capture.matched},
                   {"fetched", capture.fetched},
                   {"count", capture.frames.size()},
                   {"bytes", capture.bytes},
                   {"limit", capture.request.limit},
                   {"mode", capture.request.cyclic ? "cyclic" : "fixed"},
                   {"filter",
                    {{"tx", port_mask(capture.request.transmitting)},
                     {"rx", port_mask(capture.request.receiving)},
                     {"bpf", capture.request.filter}}}});
  return all;
}

// -- Queues
// --------------------------------------------------------------------------------------------

void Captures::start_queue(uint32_t port, uint64_t size, const std::string& filter) {
  stop_queue(port);
  CaptureRequest request;
  request.receiving = {port};
  request.filter = filter;
  request.limit = size;
  request.cyclic = true;
  queues_.emplace(port, begin(request, kFirstQueueWatch + port));
}

void Captures::stop_queue(uint32_t port) {
  const auto found = queues_.find(port);
  if (found == queues_.end()) return;
  end(found->second);
  queues_.erase(found);
}

Json Captures::take_queue(uint32_t port) {
  collect();
  Json frames = Json::array();
  const auto found = queues_.find(port);
  if (found == queues_.end()) return frames;
  Capture& queue = found->second;
  for (Json& frame : queue.frames) frames.push_back(std::move(frame));
  queue.fetched += frames.size();
  queue.frames.clear();
  queue.bytes = 0;
  return frames;
}

Json Captures::queue_status(uint32_t port) const {
  const auto found = queues_.find(port);
  if (found == queues_.end()) return {{"is_active", false}};
  return {{"is_active", true},
          {"size", found->second.request.limit},
          {"count", found->second.frames.size()}};
}

}  // namespace engine
