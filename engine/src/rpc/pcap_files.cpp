#include "rpc/pcap_files.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>

#include "rpc/methods.h"
#include "rpc/rpc_error.h"

namespace engine {

Json PcapFiles::start(const Request& request) {
  if (folder_.empty())
    throw refused(
        "the engine writes no files unless it is started with --pcap-folder DIR, a folder for "
        "them");
  if (request.name.empty() || request.name.front() == '.' ||
      request.name.find_first_of(std::string_view("/\0", 2)) != std::string::npos)
    throw bad_parameters(fmt::format(
        "parameter 'file' must be a file's name, without a folder, not '{}'", request.name));
  if (const auto found = files_.find(request.port); found != files_.end())
    throw refused(fmt::format("port {} is being written to {}: end that with stackcost_stop_pcap",
                              request.port, found->second.path));
  const std::string path = folder_ + "/" + request.name;
  const auto entry = files_.emplace(request.port, open(request, path)).first;
  Writing& writing = entry->second;
  try {
    // From here on frames come, and have a file to go to.
    writing.tap = taps_.begin({.transmitting = {request.port},
                               .receiving = {request.port},
                               .filter = request.filter,
                               .snap_length = request.snap_length},
                              [&writing](const SeenFrame& seen) { keep(writing, seen); });
    return status_of(writing);
  } catch (...) {
    files_.erase(entry);
    std::error_code ignored;
    std::filesystem::remove(path, ignored);
    throw;
  }
}

PcapFiles::Writing PcapFiles::open(const Request& request, const std::string& path) const {
  try {
    return {.request = request,
            .path = path,
            .file = PcapFile(path),
            .epoch = clock_.wall_epoch(),
            .unseen_before = frames_.unseen(request.port)};
  } catch (const std::system_error& error) {
    throw refused(fmt::format("{}: {}", path, error.code().message()));
  }
}

void PcapFiles::keep(Writing& writing, const SeenFrame& seen) {
  if (writing.full) return;
  const auto bytes = snapped(seen.bytes, writing.request.snap_length);
  if (writing.file.size() + bytes.size() > writing.request.limit_bytes) {
    writing.full = true;
    return;
  }
  writing.file.write(writing.epoch + seen.time, bytes, seen.wire_length);
  ++writing.frames;
}

void PcapFiles::end(Writing& writing) {
  if (!std::exchange(writing.active, false)) return;
  taps_.end(writing.tap);
  if (!writing.file.flush() && writing.error.empty()) writing.error = std::strerror(errno);
}

void PcapFiles::advance() {
  for (auto& [port, writing] : files_) {
    if (!writing.active) continue;
    if (!writing.file.flush()) writing.error = std::strerror(errno);
    if (writing.full || !writing.error.empty()) end(writing);
  }
}

Json PcapFiles::stop(uint32_t port) {
  const auto found = files_.find(port);
  if (found == files_.end())
    throw refused(fmt::format("port {} is not being written to a file", port));
  end(found->second);
  Json last = status_of(found->second);
  files_.erase(found);
  return last;
}

Json PcapFiles::status_of(const Writing& writing) const {
  const char* const state = !writing.error.empty() ? "failed" : writing.full ? "full" : "writing";
  return {{"port", writing.request.port},
          {"file", writing.path},
          {"state", state},
          {"error", writing.error.empty() ? Json() : Json(writing.error)},
          {"frames", writing.frames},
          {"bytes", writing.file.size()},
          {"limit_bytes", writing.request.limit_bytes},
          {"lost", frames_.unseen(writing.request.port) - writing.unseen_before}};
}

Json PcapFiles::status() const {
  Json all = Json::array();
  for (const auto& [port, writing] : files_) all.push_back(status_of(writing));
  return {{"files", std::move(all)}};
}

namespace {

using enum ParameterType;

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

}  // namespace

void add_pcap_methods(MethodTable& methods, ControlState& state) {
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
    state.taps.collect();
    state.pcap_files.advance();
    return state.pcap_files.status();
  });
}

}  // namespace engine
