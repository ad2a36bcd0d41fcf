#pragma once
// Two data cores on a virtual clock, joined by a wire that impairs what it carries. Tests may read
// along and see that what one program sends arrives byte for byte.

#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "astf/run.h"
#include "flow/context.h"
#include "impairment/impairment.h"
#include "net/rx_segment.h"
#include "net/send_heads.h"
#include "net/tunnel_end.h"
#include "net/use_up.h"

namespace engine::tcp {

/// What a TCP segment says, as values that outlive its frame.
struct TestSegment {
  uint32_t sequence = 0;
  uint32_t acknowledgment = 0;
  uint32_t length = 0;  ///< payload bytes
  uint16_t window = 0;  ///< as on the wire, not scaled
  uint8_t flags = 0;
  bool has_timestamps = false;
  bool sack_permitted = false;
  bool has_scale = false;
  uint8_t scale = 0;
  uint8_t sack_count = 0;
  uint16_t mss = 0;  ///< 0: option absent
  uint32_t timestamp = 0;
  uint32_t timestamp_echo = 0;
  SequenceRange sack[kMaxSackBlocks]{};

  bool is(SegmentFlag flag) const { return (flags & flag) != 0; }
  uint32_t span() const { return length + (is(kSyn) ? 1 : 0) + (is(kFin) ? 1 : 0); }
};
TestSegment values_of(const RxSegment& segment);

}  // namespace engine::tcp

namespace engine::netsim {

/// How long frames take that nothing delays.
inline constexpr Nanoseconds kDelay = 50 * kMicrosecond;

struct Settings {
  uint64_t seed = 1;             ///< of cores and wires; the wires' own seeds are not used
  ImpairmentSettings to_server;  ///< delay 0: kDelay
  ImpairmentSettings to_client;
  DeviceOffloads offloads{};  ///< of both ports; with checksum offload frames arrive as trusted
  /// What the offloads leave to the device is done where a frame enters the wire, as by a NIC; else
  /// it arrives as it is, as over a veth pair.
  bool device_cuts = false;
  /// What each step of a TLS handshake takes, by side. The ends share the clock: one's step keeps
  /// the other from its work, too.
  std::array<Nanoseconds, kSides> handshake_step{};
  uint32_t max_flows = 1 << 16;
  size_t wire_bytes = size_t{8} << 20;  ///< room for frames on their way, each direction
  size_t burst = 1;  ///< frames of one direction that arrive at once and are received together
  bool only_slow_path = false;               ///< of both cores' flows (tcp::takes_fast_path)
  VlanTags tags{};                           ///< of both ports
  std::shared_ptr<const Tunnels> tunnels{};  ///< of clients; both ports have ends of tunnels then
  Nanoseconds epoch = 0;  ///< of both cores: initial sequence numbers and timestamps go by it
  uint32_t thread = 0;    ///< number of both cores
  uint32_t threads = 1;   ///< how many cores there are in all; the others do nothing
};

/// A frame on the wire as a test sees it.
struct Seen {
  Nanoseconds time;
  Side from;
  PacketKind kind;
  RxSegment packet;          ///< points into `bytes`, but its `frame`, which is gone
  tcp::TestSegment segment;  ///< when kind is tcp
  std::vector<uint8_t> bytes;
};

class Network {
 public:
  Network(const Settings& settings, const std::string& profile_json, const RunOptions& options);
  Network(const Settings& settings, std::shared_ptr<const Profile> profile,
          const RunOptions& options);
  /// The two sides by different options.
  Network(const Settings& settings, const std::string& profile_json, const RunOptions& client,
          const RunOptions& server);
  ~Network();

  /// Lets virtual time pass until `until`, or until nothing more can happen.
  void run_until(Nanoseconds until);
  /// Lets virtual time pass without running anything, as when a core is not scheduled.
  void skip(Nanoseconds duration) { now_ += duration; }
  /// Runs until the clients' schedule is over and all flows have gone, at most until `limit`.
  /// True when that was reached.
  bool drain(Nanoseconds limit);

  /// Closes the run of one side: turns of its core, but no time.
  void close(Side side);

  DataCore& core(Side side) { return *ends_[index_of(side)].core; }
  /// The part of the one run that a side has.
  ProfileRun& run(Side side) { return *ends_[index_of(side)].run; }
  RunStatus status(Side side) { return core(side).status(run(side)); }
  CounterBlock counters(Side side);
  CounterBlock table_counters(Side side) { return core(side).table_counters(side); }
  uint64_t count(Side side, Counter counter) { return counters(side)[counter]; }
  Nanoseconds now() const { return now_; }

  /// Called for each frame put on the wire, whose bytes it may change; returns false to lose it.
  std::function<bool(Seen&)> filter;
  /// Puts a frame on the wire as if `from` had sent it.
  void inject(Side from, std::vector<uint8_t> bytes);

  /// While withheld, that side's core finds no buffer for a frame to send.
  void withhold_frames(Side side, bool withheld);

  /// nullptr: the port has none.
  TunnelEnd* tunnels(Side side) { return ends_[index_of(side)].tunnels.get(); }
  uint64_t frames_sent(Side side) const { return ends_[index_of(side)].sent; }

 private:
  Network(const Settings& settings, std::shared_ptr<const Profile> profile,
          const std::array<RunOptions, kSides>& options);
  struct Nowhere final : TransmitDevice {
    void send(std::span<Frame>) override {}
    void refill(Frame& slot) override { heads.refill(slot); }
    SendHeads heads;
  };
  struct End final : TransmitDevice {
    void send(std::span<Frame> frames) override;
    void refill(Frame& slot) override {
      if (!frames_withheld) slot.head = heads.emplace_back().data();
    }
    Network* network = nullptr;
    Side side = Side::client;
    std::unique_ptr<TransmitQueue> queue;
    Nowhere nowhere;
    std::unique_ptr<TransmitQueue> unused;  ///< the pair's other port leads nowhere
    std::unique_ptr<DataCore> core;
    ProfileRun* run = nullptr;  ///< the core's
    std::unique_ptr<TunnelEnd> tunnels;
    std::deque<std::array<uint8_t, kHeadRoom>> heads;
    uint64_t sent = 0;
    bool frames_withheld = false;
  };
  void put(Side from, std::vector<uint8_t> bytes);
  Impairment& wire(Side from) { return wires_[index_of(from)]; }
  /// Hands over what has arrived of the frames that one side sent.
  void deliver(Side from);
  void step();

  Settings settings_;
  Nanoseconds now_ = 0;
  std::array<End, kSides> ends_;
  std::array<Impairment, kSides> wires_;  ///< by sender
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
