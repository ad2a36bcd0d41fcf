// Captures: started, fetched, stopped.

#include <fmt/format.h>

#include "rpc/methods.h"

namespace engine {

namespace {

using enum ParameterType;

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
  methods.add("capture", Access::reader, {{"command", string}},
              [&state](const Json& params) { return capture(state, params); });
}

}  // namespace engine
