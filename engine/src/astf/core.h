#pragma once
// One data core's world: flows, timers, schedules and counters of one port pair. It does no I/O and
// reads no clock; frames and time are arguments. Nothing in it is shared with another core but
// where the ports' gateways are.

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "astf/address_ranges.h"
#include "astf/ignored.h"
#include "astf/profile.h"
#include "astf/run_status.h"
#include "astf/service.h"
#include "base/random.h"
#include "base/side.h"
#include "base/time.h"
#include "net/frame.h"
#include "net/l2_header.h"
#include "net/latency_stream.h"
#include "net/responder.h"
#include "net/steering.h"
#include "stats/counters.h"
#include "stats/drops.h"
#include "stats/path_mtu.h"
#include "stats/pool_status.h"
#include "tcp/info.h"

namespace engine {

struct CoreConfig {
  uint32_t thread = 0;            ///< this core's number
  uint32_t threads = 1;           ///< data cores in all
  uint32_t pairs = 1;             ///< port pairs in all; this core serves pair thread mod pairs
  uint32_t max_flows = 1u << 20;  ///< open flows of both sides together
  /// Of all random choices, and the key of initial sequence numbers and of the flow tables. Another
  /// one, which nobody can guess, with each start of the engine (RFC 6528).
  uint64_t seed = 1;
  /// Wall-clock time at now = 0: TCP timestamps go on over a restart, so a peer that still holds a
  /// connection in TIME_WAIT takes a new one (RFC 6191).
  Nanoseconds epoch = 0;
  std::array<PortAddress, kSides> ports;
  /// What is learned of the ports' gateways, shared with the other cores that serve them.
  std::array<std::shared_ptr<LearnedGateway>, kSides> gateways{std::make_shared<LearnedGateway>(),
                                                               std::make_shared<LearnedGateway>()};

  /// The seed of delays, of the order of templates and of first source ports. They differ by core,
  /// too: else many cores would do the same at the same time.
  uint64_t choices() const { return scramble(scramble(seed) + thread); }
  /// Which flows of the pair are this core's.
  Steering steering() const { return {thread / pairs, threads / pairs}; }
};

/// A profile compiled for one core: pools, schedule, counters. Made by the control thread, then
/// attached to the core.
class ProfileRun;

class DataCore {
 public:
  /// `transmit`: queues towards the two ports of the pair; they outlive the core.
  DataCore(const CoreConfig& config, std::array<TransmitQueue*, kSides> transmit);
  ~DataCore();

  // -- data path ---------------------------------------------------------------------------------

  /// Takes frames that arrived at one port, of this core's flows (CoreConfig::steering) and of
  /// none. Frames are read only; nothing of them is kept.
  void receive(Side side, std::span<const Frame> frames, Nanoseconds now);
  /// Runs timers and, if it `may_open`, opens flows that are due; otherwise they stay due. Returns
  /// how many events were handled, 0 when idle.
  size_t advance(Nanoseconds now, bool may_open = true);
  /// When the next flow of a schedule is due; INT64_MAX: never.
  Nanoseconds next_start() const;
  /// Takes one step of one TLS handshake that is due, some 100 us of work. False: none is. Called
  /// once in a pass, when what is queued for the ports has left; followed by `end_handshake_step`.
  bool begin_handshake_step(Nanoseconds now);
  /// Acts upon what came of the step. `now`: read when it was done.
  void end_handshake_step(Nanoseconds now);

  // -- control, called between bursts on the core's own thread
  // --------------------------------------

  /// Compiles `profile` for this core, on the control thread while the core goes on. Throws
  /// ProfileError.
  std::unique_ptr<ProfileRun> prepare(std::shared_ptr<const Profile> profile,
                                      const RunOptions& options) const;
  /// Starts a prepared run, and keeps it until `detach`. Throws ProfileError (the run is then left
  /// as it was) when a port it listens on is taken by another run.
  void attach(std::unique_ptr<ProfileRun>& run, Nanoseconds now);
  // Of attached runs:
  /// No new flows from now on; open ones go on.
  void stop_opening(ProfileRun& run);
  /// No new flows from now on, and not a word from those that are open: `advance` removes them,
  /// some in each turn, until the run is closed. Those that were not complete are counted
  /// tcps_testdrops; one in TIME_WAIT was.
  void close(ProfileRun& run);
  /// Takes a closed run out, for the control thread to destroy. nullptr: it is not closed.
  std::unique_ptr<ProfileRun> detach(ProfileRun& closed);
  /// As of the last `advance`.
  RunStatus status(const ProfileRun& run) const;
  /// Connections of a run that are sampled, at most one of each side.
  std::vector<tcp::Info> sampled_flows(ProfileRun& run, Nanoseconds now);

  /// Keeps received frames from flows, from now on.
  void set_service(const ServiceMode& mode);
  /// Whom packets of no flow are not answered, from now on.
  void set_ignored(const Ignored& ignored);

  /// Disabled clients open no flows; those they have open go on. Addresses that no run has are left
  /// out: like TRex's, a client is enabled when the first run with its address begins.
  void enable_clients(const AddressRanges& addresses, bool enabled);

  /// Counters of the flow table of one side, shared by all runs (err_*, rss_*, ignored_*).
  CounterBlock table_counters(Side side) const;
  /// What was given up on one side, by reason.
  Drops drops(Side side) const;
  PathMtuCounts path_mtu(Side side) const;
  ClientAddresses clients() const;
  /// On the core's own thread.
  std::vector<PoolStatus> memory() const;
  uint64_t open_flows() const;
  PortResponder& responder(Side side);
  LatencyStream& latency_stream(Side side);

 private:
  struct World;
  std::unique_ptr<World> world_;
};

}  // namespace engine
