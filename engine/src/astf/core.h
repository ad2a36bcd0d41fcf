#pragma once
// One data core's world: flows, timers, schedules and counters of one port pair. It does no I/O and
// reads no clock; frames and time are arguments. Nothing in it is shared with another core but
// where the ports' gateways are.

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "astf/address_ranges.h"
#include "astf/ignored.h"
#include "astf/profile.h"
#include "astf/service.h"
#include "astf/side.h"
#include "astf/topology.h"
#include "flow/time.h"
#include "net/frame.h"
#include "net/latency_stream.h"
#include "net/path.h"
#include "net/responder.h"
#include "stats/counters.h"
#include "stats/drops.h"
#include "stats/latency.h"
#include "stats/payload_counts.h"
#include "tcp/info.h"

namespace engine {

struct CoreConfig {
  uint32_t thread = 0;            ///< this core's number
  uint32_t threads = 1;           ///< data cores in all
  uint32_t pairs = 1;             ///< port pairs in all; this core serves pair thread mod pairs
  uint32_t max_flows = 1u << 20;  ///< open flows of both sides together
  uint64_t seed = 1;              ///< of every random choice
  /// Wall-clock time at now = 0: TCP timestamps and initial sequence numbers go on over a restart,
  /// so a peer that still holds a connection in TIME_WAIT takes a new one (RFC 6191).
  Nanoseconds epoch = 0;
  std::array<PortAddress, kSides> ports;
  /// What is learned of the ports' gateways, shared with the other cores that serve them.
  std::array<std::shared_ptr<LearnedGateway>, kSides> gateways{std::make_shared<LearnedGateway>(),
                                                               std::make_shared<LearnedGateway>()};
};

/// Whether received payload is compared with what the other end's program sends.
struct PayloadCheckOptions {
  bool enabled = false;
  uint64_t skip_bytes = 0;  ///< of the beginning of each connection, each way, are not compared
};

/// How a profile is run (arguments of the `start` method).
struct RunOptions {
  double multiplier = 1;
  Nanoseconds duration = 0;  ///< <= 0: no end
  /// nullptr: all clients are directly behind the port.
  std::shared_ptr<const Topology> topology = nullptr;
  PayloadCheckOptions payload_check;
  bool opens_flows = true;     ///< false: server side only (client_mask excludes the pair)
  bool samples_flows = false;  ///< `watched_flows` is going to be asked for
};

/// What becomes of open flows when a run ends.
enum class RunPhase : uint8_t {
  opening,   ///< flows are opened by schedule
  draining,  ///< no new flows; open ones finish on their own
  closing,   ///< nothing listens; remaining flows are removed without FIN or RST (TRex: nc)
  closed,    ///< nothing listens or is open
};

/// State of one run on one core.
struct RunStatus {
  RunPhase phase = RunPhase::closed;
  uint64_t client_flows = 0;  ///< open now
  uint64_t server_flows = 0;
  uint64_t intended = 0;      ///< starts due so far by schedule
  uint64_t opened = 0;        ///< of those, flows opened
  uint64_t late = 0;          ///< opened more than 1 ms after the intended time
  uint64_t unsent = 0;        ///< due but given up: no port, table full, no buffer
  uint64_t held_wanted = 0;   ///< flows to be held open now
  uint64_t held_opened = 0;   ///< opened to hold them, replacements among them
  uint64_t held_refused = 0;  ///< tries at that which failed
  uint64_t established = 0;   ///< flows of this run that were ever established (both sides)
};

/// Client addresses that runs have, and those of them that open no flows.
struct ClientAddresses {
  AddressRanges known;
  AddressRanges disabled;
};

/// Memory of one kind of object.
struct PoolStatus {
  const char* name;
  uint64_t object_bytes;
  uint64_t in_use;
  uint64_t reserved_bytes;
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

  /// Takes frames that arrived at one port. Frames are read only; nothing of them is kept.
  void receive(Side side, std::span<const Frame> frames, Nanoseconds now);
  /// Runs timers and opens flows that are due. Returns how many events were handled, 0 when idle.
  size_t advance(Nanoseconds now);

  // -- control, called between bursts on the core's own thread
  // --------------------------------------

  /// Compiles `profile` for this core, on the control thread while the core goes on. Throws
  /// ProfileError.
  std::unique_ptr<ProfileRun> prepare(std::string id, std::shared_ptr<const Profile> profile,
                                      const RunOptions& options) const;
  /// Starts a prepared run. Throws ProfileError (the run is then left as it was) when a port it
  /// listens on is taken by another run.
  void attach(std::unique_ptr<ProfileRun>& run, Nanoseconds now);
  /// No new flows from now on; open ones go on.
  void stop_opening(const std::string& id);
  /// No new flows from now on, and not a word from those that are open: `advance` removes them,
  /// some in each turn, counted tcps_testdrops, until the run is closed.
  void close(const std::string& id);
  /// Takes a closed run out, for the control thread to destroy. nullptr: it is not closed.
  std::unique_ptr<ProfileRun> detach(const std::string& id);
  void set_multiplier(const std::string& id, double multiplier, Nanoseconds now);
  /// Holds a share of `flows` client flows open beside the schedule, until the run's end.
  void hold(const std::string& id, uint64_t flows, Nanoseconds ramp, Nanoseconds now);

  /// Keeps received frames from flows, from now on.
  void set_service(const ServiceMode& mode);
  /// Whom packets of no flow are not answered, from now on.
  void set_ignored(const Ignored& ignored);

  /// Disabled clients open no flows; those they have open go on. Addresses that no run has are left
  /// out: like TRex's, a client is enabled when the first run with its address begins.
  void enable_clients(const AddressRanges& addresses, bool enabled);

  RunStatus status(const std::string& id) const;
  /// Connections of a run that are watched, at most one of each side.
  std::vector<tcp::Info> watched_flows(const std::string& id, Nanoseconds now);
  /// Counters of a run on one side: element g is template group g (0: no group).
  std::vector<CounterBlock> counters(const std::string& id, Side side) const;
  /// How long the client flows of one template of a run took. One histogram in a call, since a run
  /// may have thousands. nullptr: there is no such template. Valid until the core goes on.
  const Histogram* latency(const std::string& id, size_t template_index, LatencyKind kind) const;
  /// What the payload check of a run found, by template; empty without one.
  std::vector<PayloadBlock> payload(const std::string& id) const;
  /// Counters of the flow table of one side, shared by all runs (err_*, rss_*, ignored_*).
  CounterBlock table_counters(Side side) const;
  /// What was given up on one side, by reason.
  Drops drops(Side side) const;
  ClientAddresses clients() const;
  std::vector<PoolStatus> memory() const;
  uint64_t open_flows() const;
  PortResponder& responder(Side side);
  LatencyStream& latency_stream(Side side);

 private:
  struct World;
  std::unique_ptr<World> world_;
};

}  // namespace engine
