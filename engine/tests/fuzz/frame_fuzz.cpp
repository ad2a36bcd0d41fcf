// Any bytes as frames, at any time, in any order, amid whole connections: no access out of bounds,
// and nothing of a flow is left when its run is closed. Input is a script: each step injects a raw
// frame, or repeats a frame seen on the wire with changed bytes, changed length or turned round (so
// that mutations meet live connections), or loses frames, or lets virtual time pass.
// script/fuzz builds and runs it.

#include <algorithm>
#include <cstdlib>
#include <deque>
#include <span>

#include "astf/run.h"
#include "netsim/netsim.h"

namespace {

using namespace engine;
using engine::netsim::Network;
using engine::netsim::Seen;
using engine::netsim::Settings;

// A TCP template of both directions and a UDP one, few and small flows: an input runs in about a
// millisecond.
constexpr char kProfile[] = R"({"buf_list":[{"base":"R0VU","size":100},
{"base":"SFRUUA==","size":5000}],
"ip_gen_dist_list":[
{"ip_start":"16.0.0.1","ip_end":"16.0.0.2","distribution":"seq","dir":"c","ip_offset":"1.0.0.0"},
{"ip_start":"48.0.0.1","ip_end":"48.0.0.1","distribution":"seq","dir":"s","ip_offset":"1.0.0.0"}],
"program_list":[
{"commands":[{"name":"tx","buf_index":0},{"name":"rx","min_bytes":5000}]},
{"commands":[{"name":"rx","min_bytes":100},{"name":"tx","buf_index":1}]},
{"commands":[{"name":"tx_msg","buf_index":0},{"name":"rx_msg","min_pkts":1}],"stream":false},
{"commands":[{"name":"rx_msg","min_pkts":1},{"name":"tx_msg","buf_index":0}],"stream":false}],
"templates":[
{"client_template":{"program_index":0,"ip_gen":{"dist_client":{"index":0},"dist_server":{"index":1}},
"cluster":{},"port":80,"cps":2000,"limit":6},
"server_template":{"program_index":1,"assoc":[{"port":80}]}},
{"client_template":{"program_index":2,"ip_gen":{"dist_client":{"index":0},"dist_server":{"index":1}},
"cluster":{},"port":53,"cps":1000,"limit":3},
"server_template":{"program_index":3,"assoc":[{"port":53}]}}],"tg_names":[]})";

std::shared_ptr<const Profile> parsed_profile() {
  static const std::shared_ptr<const Profile> parsed = parse_profile(kProfile, false);
  return parsed;
}

/// The input, read byte by byte; zeros behind its end.
class Script {
 public:
  Script(const uint8_t* data, size_t size) : rest_(data, size) {}
  bool empty() const { return rest_.empty(); }
  uint8_t next() {
    if (rest_.empty()) return 0;
    const uint8_t byte = rest_.front();
    rest_ = rest_.subspan(1);
    return byte;
  }
  std::vector<uint8_t> bytes(size_t count) {
    const auto taken = rest_.first(std::min(count, rest_.size()));
    rest_ = rest_.subspan(taken.size());
    return {taken.begin(), taken.end()};
  }

 private:
  std::span<const uint8_t> rest_;
};

enum class Step : uint8_t { raw, repeat, turn, resize, lose, wait, count };

class Run {
 public:
  explicit Run(bool trusted)
      : network_({.offloads = {.checksum = trusted}, .max_flows = 32, .wire_bytes = kWireBytes},
                 parsed_profile(), {}) {
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
      default:
        return network_.run_until(network_.now() + (16 * kMicrosecond << (script.next() % 15)));
    }
  }

  /// Closes both ends; what a flow held has to be back.
  void close() {
    network_.run_until(network_.now() + 20 * kMillisecond);
    for (const Side side : {Side::client, Side::server}) {
      network_.close(side);
    }
    network_.run_until(network_.now() + 20 * kMillisecond);
    for (const Side side : {Side::client, Side::server}) {
      if (network_.core(side).open_flows() != 0) std::abort();
      for (const PoolStatus& pool : network_.core(side).memory())
        if (pool.in_use != 0) std::abort();
      if (network_.core(side).detach("_") == nullptr) std::abort();
    }
  }

 private:
  static constexpr size_t kRecent = 16;
  /// More than all flows have on their way, and little to make anew for each input.
  static constexpr size_t kWireBytes = size_t{256} << 10;

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
  Run run(size % 2 == 1);
  while (!script.empty()) run.step(script);
  run.close();
  return 0;
}
