#include "rpc/frames/captures.h"

#include <fmt/format.h>

#include <algorithm>

#include "astf/base64.h"
#include "rpc/protocol/rpc_error.h"

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

std::string encode(std::span<const uint8_t> bytes) {
  return encode_base64({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
}

}  // namespace

// -- Looking

Captures::Capture Captures::begin(const CaptureRequest& request, FrameWatches::Take take) {
  Capture capture;
  capture.request = request;
  capture.started = engine_.now();
  capture.watch = watches_.begin({.transmitting = request.transmitting,
                                  .receiving = request.receiving,
                                  .filter = request.filter,
                                  .snap_length = request.snap_length,
                                  .budget = request.cyclic ? UINT64_MAX : request.limit},
                                 std::move(take));
  return capture;
}

void Captures::end(Capture& capture) {
  if (std::exchange(capture.active, false)) watches_.end(capture.watch);
}

void Captures::keep(Capture& capture, const SeenFrame& seen) {
  ++capture.matched;
  if (capture.frames.size() >= capture.request.limit) {
    if (!capture.request.cyclic || capture.frames.empty()) return;
    capture.bytes -= capture.frames.front()["wirelen"].get<uint64_t>();
    capture.frames.pop_front();
  }
  Json frame = {{"binary", encode(snapped(seen, capture.request.snap_length))},
                {"origin", seen.transmitted ? "TX" : "RX"},
                {"ts", seconds(seen.time)},
                {"index", capture.matched},
                {"port", seen.port},
                {"wirelen", seen.wire_length}};
  capture.bytes += seen.wire_length;
  capture.frames.push_back(std::move(frame));
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
  const uint32_t id = last_id_ + 1;
  captures_.emplace(
      id, begin(request, [this, id](const SeenFrame& seen) { keep(captures_.at(id), seen); }));
  return last_id_ = id;
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
  watches_.collect();
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
  watches_.collect();
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

void Captures::start_queue(uint32_t port, uint64_t size, const std::string& filter) {
  stop_queue(port);
  CaptureRequest request;
  request.receiving = {port};
  request.filter = filter;
  request.limit = size;
  request.cyclic = true;
  queues_.emplace(
      port, begin(request, [this, port](const SeenFrame& seen) { keep(queues_.at(port), seen); }));
}

void Captures::stop_queue(uint32_t port) {
  const auto found = queues_.find(port);
  if (found == queues_.end()) return;
  end(found->second);
  queues_.erase(found);
}

Json Captures::take_queue(uint32_t port) {
  watches_.collect();
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
