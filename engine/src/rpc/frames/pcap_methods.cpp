// Files of what ports send and receive: begun, asked about, ended.

#include "rpc/methods.h"

namespace engine {

namespace {

using enum ParameterType;

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
    state.watches.collect();
    state.pcap_files.advance();
    return state.pcap_files.status();
  });
}

}  // namespace engine
