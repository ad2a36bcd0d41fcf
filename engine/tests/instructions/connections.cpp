// Connections with 100-byte responses on one data core, which plays both sides of an in-memory wire
// on a virtual clock. valgrind counts the instructions of some of them (script/instructions). With
// the argument "checksums" the wire completes and vouches for none, as a device without offloads.

#include <valgrind/callgrind.h>

#include <cstdio>
#include <memory>
#include <string_view>

#include "astf/core.h"
#include "astf/run.h"
#include "io/wire.h"
#include "json/parse_profile.h"
#include "netsim/netsim.h"

namespace engine {
namespace {

constexpr uint64_t kInTimeWait = 416'000;  ///< connections, while others are counted
constexpr uint64_t kCounted = 4096;
constexpr uint64_t kPerPass = 64;  ///< connections opened in one pass
constexpr Nanoseconds kTimeWait = 500 * kMillisecond;
constexpr Nanoseconds kPass = kTimeWait * kPerPass / kInTimeWait;

CoreConfig both_sides() {
  CoreConfig config;
  for (uint32_t port = 0; port < kSides; ++port) {
    config.ports[port].mac = local_mac(port);
    config.ports[port].destination = local_mac(1 - port);
  }
  return config;
}

class Core {
 public:
  explicit Core(bool checksums)
      : core_(both_sides(), {&ends_[0].transmit(), &ends_[1].transmit()}) {
    WireQueue::join(ends_[0], ends_[1]);
    if (checksums)
      for (WireQueue& end : ends_) end.transmit().set_offloads({});
    const netsim::HttpLike http{.response = 100,
                                .cps = kPerPass * static_cast<double>(kSecond) / kPass};
    auto run = core_.prepare(parse_profile(netsim::profile(http), false), {});
    run_ = run.get();
    core_.attach(run, 0);
  }

  /// Goes on until so many connections were opened in all.
  void open(uint64_t connections) {
    while (core_.status(*run_).opened < connections) pass();
  }
  uint64_t open_flows() const { return core_.open_flows(); }
  /// Connections that both ends have taken through to their end or to TIME_WAIT.
  uint64_t count(Side side, Counter counter) { return run_->counters(side)[0][counter]; }

 private:
  /// One turn, as a data thread has it.
  void pass() {
    now_ += kPass;
    for (const Side side : {Side::client, Side::server}) {
      PortQueue& queue = ends_[index_of(side)];
      if (const auto frames = queue.receive(); !frames.empty()) core_.receive(side, frames, now_);
      queue.release();
    }
    core_.advance(now_);
    for (WireQueue& queue : ends_) queue.transmit().flush();
  }

  std::array<WireQueue, kSides> ends_;
  DataCore core_;
  ProfileRun* run_ = nullptr;
  Nanoseconds now_ = 0;
};

int count(bool checksums) {
  const auto core = std::make_unique<Core>(checksums);
  core->open(kInTimeWait * 2);
  const uint64_t closed = core->count(Side::server, Counter::tcps_closed);
  CALLGRIND_START_INSTRUMENTATION;
  core->open(kInTimeWait * 2 + kCounted);
  CALLGRIND_STOP_INSTRUMENTATION;
  const uint64_t counted = core->count(Side::server, Counter::tcps_closed) - closed;
  std::printf("%lu connections, %lu flows open\n", counted, core->open_flows());
  return counted == kCounted && core->count(Side::client, Counter::tcps_sndrexmitpack) == 0 ? 0 : 1;
}

}  // namespace
}  // namespace engine

int main(int count, char** arguments) {
  return engine::count(count > 1 && std::string_view(arguments[1]) == "checksums");
}
