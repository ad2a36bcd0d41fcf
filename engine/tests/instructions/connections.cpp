// Connections with 100-byte responses on one data core, which plays both sides of an in-memory wire
// on a virtual clock. valgrind counts the instructions of some of them (script/instructions), and
// without valgrind their time is taken. With the argument "checksums" the wire completes and
// vouches for none, as a device without offloads. With "six_frames" they are dperf's: a byte each
// way, no time stamps. With a number each connection stays open, idle, until so many others have
// been opened after it; the peer acknowledges its response at once, so that all numbers have the
// same frames (script/bench open_flows).

#include <valgrind/callgrind.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <memory>
#include <string>
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
constexpr Nanoseconds kTimeWait = 500 * kMillisecond;

/// Batches of kCounted connections whose time is taken. Their 5th percentile is told: neighbours on
/// the machine only add.
constexpr size_t kTimed = 401;
constexpr size_t kTold = kTimed / 20;

/// What the connections are like.
struct Arguments {
  bool checksums = false;
  bool six_frames = false;  ///< of a byte each way and without time stamps, as dperf's
  uint64_t open = 0;        ///< connections; 0: each is closed as soon as it has its response

  /// Connections opened in one pass. One that stays open has three timers that expire, and a pass
  /// handles 128 of them.
  uint64_t per_pass() const { return open == 0 ? 64 : 32; }
  Nanoseconds pass() const {
    return kTimeWait * static_cast<Nanoseconds>(per_pass()) / Nanoseconds{kInTimeWait};
  }
};

CoreConfig both_sides(uint64_t open) {
  CoreConfig config;
  config.max_flows += static_cast<uint32_t>(kSides * open * 11 / 10);
  for (uint32_t port = 0; port < kSides; ++port) {
    config.ports[port].mac = local_mac(port);
    config.ports[port].destination = local_mac(1 - port);
  }
  return config;
}

class Core {
 public:
  explicit Core(const Arguments& arguments)
      : core_(both_sides(arguments.open), {&ends_[0].transmit(), &ends_[1].transmit()}),
        pass_(arguments.pass()) {
    WireQueue::join(ends_[0], ends_[1]);
    if (arguments.checksums)
      for (WireQueue& end : ends_) end.transmit().set_offloads({});
    netsim::HttpLike http{
        .response = 100,
        .cps = static_cast<double>(arguments.per_pass()) * kSecond / static_cast<double>(pass_)};
    if (arguments.six_frames) {
      http.request = http.response = 1;
      // The server's FIN is in the frame of its byte: it closes without waiting for the ACK.
      http.server_commands =
          R"({"name":"tx_mode","flags":1},{"name":"rx","min_bytes":1},{"name":"tx","buf_index":1})";
      http.client_tcp = http.server_tcp = R"({"do_rfc1323":0})";
    }
    if (arguments.open != 0) {
      const auto idle_us = arguments.open * kTimeWait / kInTimeWait / kMicrosecond;
      http.client_commands =
          R"({"name":"tx","buf_index":0},{"name":"rx","min_bytes":100},{"name":"delay","usec":)" +
          std::to_string(idle_us) + "}";
      http.server_commands =
          R"({"name":"rx","min_bytes":100},{"name":"tx","buf_index":1},{"name":"nc"})";
      http.client_tcp = R"({"no_delay_counter":1,"keepidle":65533})";
      http.server_tcp = R"({"keepidle":65533})";
    }
    auto run = core_.prepare(parse_profile(netsim::profile(http), false), {});
    run_ = run.get();
    core_.attach(run, 0);
  }

  /// Goes on until so many connections were opened in all.
  void open(uint64_t connections) {
    while (core_.status(*run_).opened < connections) pass();
  }
  uint64_t open_flows() const { return core_.open_flows(); }
  /// Bytes of memory for flows and what belongs to them, those in TIME_WAIT left out.
  uint64_t flow_bytes() const {
    uint64_t bytes = 0;
    for (const PoolStatus& pool : core_.memory())
      if (pool.name != std::string_view("connection in TIME_WAIT")) bytes += pool.reserved_bytes;
    return bytes;
  }
  /// Connections that both ends have taken through to their end or to TIME_WAIT.
  uint64_t count(Side side, Counter counter) { return run_->counters(side)[0][counter]; }
  /// Frames that both ends have sent.
  uint64_t frames() const { return ends_[0].counters().opackets + ends_[1].counters().opackets; }

 private:
  /// One turn, as a data thread has it.
  void pass() {
    now_ += pass_;
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
  const Nanoseconds pass_;
  Nanoseconds now_ = 0;
};

double thread_ns() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) * kSecond + static_cast<double>(time.tv_nsec);
}

/// Nanoseconds of this thread's own time for each of the next connections.
double timed(Core& core, uint64_t opened) {
  std::array<double, kTimed> batches{};
  for (double& batch : batches) {
    const double begin = thread_ns();
    core.open(opened += kCounted);
    batch = (thread_ns() - begin) / kCounted;
  }
  std::ranges::nth_element(batches, batches.begin() + kTold);
  return batches[kTold];
}

int count(const Arguments& arguments) {
  const auto core = std::make_unique<Core>(arguments);
  const uint64_t warm_up = kInTimeWait * 2 + arguments.open;
  core->open(warm_up);
  const uint64_t closed = core->count(Side::server, Counter::tcps_closed);
  const uint64_t frames = core->frames();
  CALLGRIND_START_INSTRUMENTATION;
  core->open(warm_up + kCounted);
  CALLGRIND_STOP_INSTRUMENTATION;
  const uint64_t closed_now = core->count(Side::server, Counter::tcps_closed) - closed;
  const double frames_each = static_cast<double>(core->frames() - frames) / kCounted;
  std::printf("%lu connections of %.2f frames, %lu flows open", kCounted, frames_each,
              core->open_flows());
  if (arguments.open != 0 && RUNNING_ON_VALGRIND == 0)
    std::printf(", %.1f ns each, %lu bytes for flows", timed(*core, warm_up + kCounted),
                core->flow_bytes());
  std::printf("\n");
  if (arguments.six_frames && frames_each > 6.01) {
    std::fprintf(stderr, "a connection has %.2f frames, not six\n", frames_each);
    return 1;
  }
  // When a connection closes is exact to a pass.
  const uint64_t least = arguments.open == 0 ? kCounted : kCounted - 2 * arguments.per_pass();
  return closed_now >= least && core->count(Side::client, Counter::tcps_sndrexmitpack) == 0 ? 0 : 1;
}

}  // namespace
}  // namespace engine

int main(int count, char** texts) {
  engine::Arguments arguments;
  for (int i = 1; i < count; ++i)
    if (std::string_view(texts[i]) == "checksums")
      arguments.checksums = true;
    else if (std::string_view(texts[i]) == "six_frames")
      arguments.six_frames = true;
    else
      arguments.open = std::strtoull(texts[i], nullptr, 10);
  return engine::count(arguments);
}
