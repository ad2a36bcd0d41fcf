// Any bytes as frames, at any time, in any order, amid whole connections and latency streams: no
// access out of bounds, and nothing of a flow is left when its run is closed. The input's first
// byte says whether the device vouches for checksums, what of the payload is compared, and whether
// frames have two VLAN tags and clients are in GTP-U tunnels; then follows a script: each step
// injects a raw frame, or repeats a frame seen on the wire with changed bytes, changed length or
// turned round (so that mutations meet live connections), or loses frames, or lets virtual time
// pass, or starts a latency stream, or sets service mode, or leaves an end without frames to send.
// script/fuzz builds and runs it.

#include <algorithm>
#include <cstdlib>
#include <deque>

#include "astf/run.h"
#include "fuzz/script.h"
#include "json/parse_profile.h"
#include "netsim/netsim.h"

namespace {

using namespace engine;
using engine::netsim::Network;
using engine::netsim::Seen;
using engine::netsim::Settings;

// A TCP template of both directions and a UDP one, two TCP templates that the first payload chooses
// between, and one whose program opens their flows; few and small flows, so that an input runs in
// about a millisecond.
constexpr char kProfile[] = R"({"buf_list":[{"base":"R0VU","size":100},
{"base":"SFRUUA==","size":5000},{"base":"UE9TVA==","size":100}],
"ip_gen_dist_list":[
{"ip_start":"16.0.0.1","ip_end":"16.0.0.2","distribution":"seq","dir":"c","ip_offset":"1.0.0.0"},
{"ip_start":"48.0.0.1","ip_end":"48.0.0.1","distribution":"seq","dir":"s","ip_offset":"1.0.0.0"}],
"program_list":[
{"commands":[{"name":"tx","buf_index":0},{"name":"rx","min_bytes":5000}]},
{"commands":[{"name":"rx","min_bytes":100},{"name":"tx","buf_index":1}]},
{"commands":[{"name":"tx_msg","buf_index":0},{"name":"rx_msg","min_pkts":1}],"stream":false},
{"commands":[{"name":"rx_msg","min_pkts":1},{"name":"tx_msg","buf_index":0}],"stream":false},
{"commands":[{"name":"set_var","id":0,"val":2},{"name":"tx","buf_index":0},
{"name":"rx","min_bytes":5000,"clear":true},{"name":"jmp_nz","id":0,"offset":-2},
{"name":"reset"}]},
{"commands":[{"name":"set_var","id":0,"val":2},{"name":"rx","min_bytes":100,"clear":true},
{"name":"tx","buf_index":1},{"name":"jmp_nz","id":0,"offset":-2},
{"name":"delay","usec":500}]},
{"commands":[{"name":"set_template","tg_id":1},{"name":"exec_template"},{"name":"exec_template"}],
"stream":false},
{"commands":[{"name":"close_msg"}],"stream":false},
{"commands":[{"name":"tx","buf_index":2},{"name":"rx","min_bytes":5000}]}],
"templates":[
{"client_template":{"program_index":0,"ip_gen":{"dist_client":{"index":0},"dist_server":{"index":1}},
"cluster":{},"port":80,"cps":2000,"limit":6},
"server_template":{"program_index":1,"assoc":[{"port":80}]}},
{"client_template":{"program_index":2,"ip_gen":{"dist_client":{"index":0},"dist_server":{"index":1}},
"cluster":{},"port":53,"cps":1000,"limit":3},
"server_template":{"program_index":3,"assoc":[{"port":53}]}},
{"client_template":{"program_index":4,"ip_gen":{"dist_client":{"index":0},"dist_server":{"index":1}},
"cluster":{},"port":81,"cps":1000,"limit":2},
"server_template":{"program_index":5,"assoc":[{"port":81,"l7_map":{"offset":[0,1]}}]},"tg_id":1},
{"client_template":{"program_index":8,"ip_gen":{"dist_client":{"index":0},"dist_server":{"index":1}},
"cluster":{},"port":81,"cps":500,"limit":2},
"server_template":{"program_index":1,"assoc":[{"port":81,"l7_map":{"offset":[0,1]}}]},"tg_id":1},
{"client_template":{"program_index":6,"ip_gen":{"dist_client":{"index":0},"dist_server":{"index":1}},
"cluster":{},"port":54,"cps":1000,"limit":1},
"server_template":{"program_index":7,"assoc":[{"port":54}]}}],"tg_names":["one"]})";

constexpr uint32_t kFirstClient = 0x10000001;

std::shared_ptr<const Profile> parsed_profile() {
  static const std::shared_ptr<const Profile> parsed = parse_profile(kProfile, false);
  return parsed;
}

enum class Step : uint8_t {
  raw,
  repeat,
  turn,
  resize,
  lose,
  wait,
  latency,
  service,
  memory,
  count
};

/// In the input's first byte, beside the number of bytes that are not compared.
enum Setting : uint8_t { kTrusted = 1, kCompares = 2, kTagged = 4, kTunnelled = 8 };

RunOptions options_of(uint8_t settings) {
  return {.payload_check = {.enabled = (settings & kCompares) != 0,
                            .skip_bytes = uint64_t{settings} >> 4 << 8}};
}

/// For the first client only: what the other one sends is in no tunnel.
std::shared_ptr<const Tunnels> first_clients_tunnel() {
  const Tunnel tunnel{IpAddress::v4(0x01010101), IpAddress::v4(0x0b000001), 1000, 5000};
  return std::make_shared<const Tunnels>(
      std::vector<TunnelRange>{{kFirstClient, kFirstClient, tunnel, 0}},
      std::unordered_map<uint32_t, Tunnel>{});
}

class Run {
 public:
  explicit Run(uint8_t settings)
      : network_({.offloads = {.checksum = (settings & kTrusted) != 0},
                  .max_flows = 32,
                  .wire_bytes = kWireBytes,
                  .tags = settings & kTagged ? vlan_tags(100, 30) : VlanTags{},
                  .tunnels = settings & kTunnelled ? first_clients_tunnel() : nullptr},
                 parsed_profile(), options_of(settings)) {
    network_.filter = [this](const Seen& seen) {
      if (to_lose_ > 0) {
        --to_lose_;
        return false;
      }
      recent_.push_front(seen);
      if (recent_.size() > kRecent) recent_.pop_back();
      return true;
    };
  }

  void step(Script& script) {
    const uint8_t head = script.next();
    const Side side = head & 0x80 ? Side::server : Side::client;
    switch (static_cast<Step>((head & 0x7f) % static_cast<uint8_t>(Step::count))) {
      case Step::raw:
        return inject(side, script.bytes(script.next()));
      case Step::repeat:
        return repeat(script, false);
      case Step::turn:
        return repeat(script, true);
      case Step::resize:
        return resize(script);
      case Step::lose:
        to_lose_ = script.next() % 8;
        return;
      case Step::latency:
        return set_latency(side, script.next());
      case Step::service:
        return set_service(side, script.next());
      case Step::memory:
        return network_.withhold_frames(side, script.next() % 2 == 1);
      default:
        return network_.run_until(network_.now() + (16 * kMicrosecond << (script.next() % 15)));
    }
  }

  /// Closes both ends; what a flow held has to be back.
  void close() {
    network_.run_until(network_.now() + 20 * kMillisecond);
    for (const Side side : {Side::client, Side::server}) {
      check_reports(side);
      network_.close(side);
    }
    network_.run_until(network_.now() + 20 * kMillisecond);
    for (const Side side : {Side::client, Side::server}) {
      if (network_.core(side).open_flows() != 0) std::abort();
      for (const PoolStatus& pool : network_.core(side).memory())
        if (pool.in_use != 0) std::abort();
      if (network_.core(side).detach(network_.run(side)) == nullptr) std::abort();
    }
  }

 private:
  static constexpr size_t kRecent = 16;
  static constexpr uint32_t kServer = 0x30000001;
  /// More than all flows have on their way, and little to make anew for each input.
  static constexpr size_t kWireBytes = size_t{256} << 10;

  /// Starts the side's stream anew, or stops it; a hundred packets in an input's longest wait.
  void set_latency(Side side, uint8_t how) {
    LatencyStream& stream = network_.core(side).latency_stream(side);
    if (how % 4 == 0) return stream.stop();
    if (how % 4 == 1) return stream.set_interval(5 * kMillisecond, network_.now());
    stream.start({.interval = 10 * kMillisecond,
                  .source = side == Side::client ? kFirstClient : kServer,
                  .destination = side == Side::client ? kServer : kFirstClient,
                  .port = static_cast<uint8_t>(index_of(side)),
                  .epoch = 1,
                  .sends = true},
                 network_.now());
  }

  void set_service(Side side, uint8_t how) {
    network_.core(side).set_service({.enabled = how % 3 == 1,
                                     .filtered = how % 3 == 2,
                                     .kinds = static_cast<uint8_t>(how / 3 | kNoTcpUdp)});
  }

  void check_reports(Side side) {
    const LatencyReport& latency = network_.core(side).latency_stream(side).report();
    if (latency.histogram.count() != latency.received) std::abort();
    if (latency.histogram.maximum() > network_.now() + kSecond) std::abort();
    for (const PayloadBlock& block : network_.run(side).report().payload)
      for (const PayloadCounts& counts : block.sides)
        if (counts.mismatched_bytes > counts.compared_bytes ||
            counts.mismatched_flows > counts.mismatched_bytes)
          std::abort();
  }

  /// Frames arrive a wire's delay later, together with what the ends send meanwhile.
  void inject(Side from, std::vector<uint8_t> bytes) {
    network_.inject(from, std::move(bytes));
    network_.run_until(network_.now() + 60 * kMicrosecond);
  }

  void repeat(Script& script, bool turned) {
    if (recent_.empty()) return;
    Seen seen = recent_[script.next() % recent_.size()];
    const Side other = seen.from == Side::client ? Side::server : Side::client;
    for (int edits = script.next() % 6; edits > 0; --edits) {
      const size_t offset = script.next();
      const uint8_t value = script.next();
      if (offset < seen.bytes.size()) seen.bytes[offset] = value;
    }
    inject(turned ? other : seen.from, std::move(seen.bytes));
  }

  void resize(Script& script) {
    if (recent_.empty()) return;
    Seen seen = recent_[script.next() % recent_.size()];
    seen.bytes.resize(seen.bytes.size() / 2 + script.next());
    inject(seen.from, std::move(seen.bytes));
  }

  Network network_;
  std::deque<Seen> recent_;
  int to_lose_ = 0;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  Script script(data, std::min<size_t>(size, 4096));
  Run run(script.next());
  while (!script.empty()) run.step(script);
  run.close();
  return 0;
}
