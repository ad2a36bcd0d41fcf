#pragma once
// Two data cores over a simulated wire on a virtual clock: loss, delay, reordering, duplication,
// all seeded. The wire also reads along and checks that what one program sends arrives byte for
// byte.

#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <queue>
#include <string>
#include <vector>

#include "astf/core.h"
#include "flow/context.h"
#include "net/packet.h"
#include "tcp/segment.h"

namespace engine::netsim {

/// What the wire does to frames of one direction.
struct Impairment {
  double loss = 0;         ///< probability that a frame is lost
  double duplication = 0;  ///< probability that a frame arrives twice
  double reordering = 0;   ///< probability that a frame is held back by `held`
  double congestion = 0;   ///< probability that an ECN-capable IPv4 packet is marked CE
  Nanoseconds delay = 50 * kMicrosecond;
  Nanoseconds held = 300 * kMicrosecond;
  double corruption =
      0;  ///< probability that one random byte behind the Ethernet header is changed
};

struct Settings {
  uint64_t seed = 1;
  Impairment to_server;
  Impairment to_client;
  DeviceOffloads offloads{};  ///< of both ports; with checksum offload frames arrive as trusted
  uint32_t max_flows = 1 << 16;
  size_t burst = 1;       ///< frames of one direction that arrive at once and are received together
  Nanoseconds epoch = 0;  ///< of both cores: initial sequence numbers and timestamps go by it
};

/// A frame on the wire as a test sees it.
struct Seen {
  Nanoseconds time;
  Side from;
  PacketKind kind;
  Packet packet;
  tcp::Segment segment;  ///< when kind is tcp
  std::vector<uint8_t> bytes;
};

class Network {
 public:
  Network(const Settings& settings, const std::string& profile_json, const RunOptions& options);
  ~Network();

  /// Lets virtual time pass until `until`, or until nothing more can happen.
  void run_until(Nanoseconds until);
  /// Lets virtual time pass without running anything, as when a core is not scheduled.
  void skip(Nanoseconds duration) { now_ += duration; }
  /// Runs until the clients' schedule is over and all flows have gone, at most until `limit`.
  /// True when that was reached.
  bool drain(Nanoseconds limit);

  DataCore& core(Side side) { return *ends_[index_of(side)].core; }
  CounterBlock counters(Side side);
  CounterBlock table_counters(Side side) { return core(side).table_counters(side); }
  uint64_t count(Side side, Counter counter) { return counters(side)[counter]; }
  Nanoseconds now() const { return now_; }

  /// Called for each frame put on the wire; returns false to lose it.
  std::function<bool(const Seen&)> filter;
  /// Puts a frame on the wire as if `from` had sent it.
  void inject(Side from, std::vector<uint8_t> bytes);

  uint64_t frames_sent(Side side) const { return ends_[index_of(side)].sent; }

 private:
  struct End {
    Network* network = nullptr;
    Side side = Side::client;
    std::unique_ptr<TransmitQueue> queue;
    std::unique_ptr<TransmitQueue> unused;  ///< the pair's other port leads nowhere
    std::unique_ptr<DataCore> core;
    std::deque<std::array<uint8_t, kHeadRoom>> heads;
    uint64_t sent = 0;
  };
  struct Flight {
    Nanoseconds arrival;
    uint64_t number;
    Side from;
    std::vector<uint8_t> bytes;
    bool operator>(const Flight& other) const {
      return arrival != other.arrival ? arrival > other.arrival : number > other.number;
    }
  };

  static void drain_to_wire(void* end, std::span<Frame> frames);
  static void drain_nowhere(void* end, std::span<Frame> frames);
  void put(Side from, std::vector<uint8_t> bytes);
  double chance() { return static_cast<double>(random_.next() >> 11) / 9007199254740992.0; }
  void step();

  Settings settings_;
  Random random_;
  Nanoseconds now_ = 0;
  uint64_t number_ = 0;
  std::array<End, kSides> ends_;
  std::priority_queue<Flight, std::vector<Flight>, std::greater<>> wire_;
};

/// A profile of one TCP template: `request` bytes, then `response` bytes, from client programs.
struct HttpLike {
  uint32_t request = 100;
  uint32_t response = 32000;
  double cps = 100;
  uint64_t limit = 0;
  std::string client_tcp = "{}";     ///< c_glob_info.tcp
  std::string server_tcp = "{}";     ///< s_glob_info.tcp
  std::string client_commands = {};  ///< instead of the usual ones
  std::string server_commands = {};
};
std::string profile(const HttpLike& http);
/// A run of `flows` flows over `settings`, drained within `limit` of virtual time.
RunOptions forever();

}  // namespace engine::netsim
