#pragma once
// The machine below the control plane: ports, data threads, and what can be asked of them. All
// calls come from the control thread; each is carried out by the data threads between two bursts,
// so what is read is one consistent moment per core.

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "astf/core.h"
#include "capture/tap.h"
#include "impairment/impairment.h"
#include "io/config.h"
#include "stats/run_statistics.h"

namespace engine {

struct PortInfo {
  std::string driver;  ///< DPDK driver name; "net_dummy", "wire" for ours
  std::string description;
  std::string pci_address;  ///< or "N/A"
  int numa = -1;
  bool is_virtual = true;
  bool is_dummy = false;
  uint32_t speed_mbps = 0;      ///< 0: unknown
  std::vector<uint32_t> cores;  ///< data cores that serve it
};

struct PortState {
  PortAddress address;
  bool resolved = false;
  MacAddress destination{};
  bool link_up = false;
  bool promiscuous = false;
  std::optional<int> flow_control;  ///< mode (Port::set_flow_control); nullopt: the device has none
};

/// Frames and bytes (without FCS) since start.
struct PortCounters {
  uint64_t opackets = 0, obytes = 0, ipackets = 0, ibytes = 0;
  uint64_t oerrors = 0;  ///< frames the device did not take
  uint64_t ierrors = 0;  ///< frames the device lost or could not deliver
};

/// CPU use of one data core since start; cycles of the time-stamp counter. Busy is the time from
/// the moment a pass of the loop finds something to do to its end; the rest is idle polling.
/// Sending is the part of busy in which ports' devices took frames.
struct CoreCycles {
  uint32_t core = 0;  ///< data core number
  uint32_t cpu = 0;   ///< Linux CPU it is pinned to
  uint32_t pair = 0;  ///< port pair it serves
  uint64_t total = 0;
  uint64_t busy = 0;
  uint64_t sending = 0;
};

/// Which way frames go, seen from a port.
enum class Direction : uint8_t { transmit, receive };
inline constexpr size_t kDirections = 2;

/// What one direction of a port is to suffer, and did since the engine started, on all its cores.
struct PortImpairment {
  uint32_t port = 0;
  Direction direction = Direction::transmit;
  ImpairmentSettings settings;
  ImpairmentCounts counts;
};

/// What one port gave up on one data core, since start.
struct PortDrops {
  uint32_t port = 0;
  uint32_t core = 0;
  Drops drops;
};

class Engine {
 public:
  /// Opens the ports and starts the data threads. Throws ConfigError with cause and hint.
  explicit Engine(const EngineConfig& config);
  ~Engine();

  /// What the user should know of how it started, a line each; the configuration's notices among
  /// them.
  const std::vector<std::string>& notices() const;
  const std::vector<PortInfo>& ports() const;
  PortState port_state(uint32_t port) const;
  PortCounters port_counters(uint32_t port) const;
  /// Replaces a port's addresses (set_l2, set_l3, set_vlan).
  void configure_port(uint32_t port, const PortAddress& address);
  void set_promiscuous(uint32_t port, bool enabled);
  /// False: the device cannot.
  bool set_link(uint32_t port, bool up);
  bool set_flow_control(uint32_t port, int mode);

  /// Has the frames of a port looked at, until `unwatch`; what is seen waits for `read_seen`.
  void watch(uint32_t port, const Watch& watch);
  void unwatch(uint32_t number);
  /// Hands over what was seen: in order of time for each direction of a port and core.
  void read_seen(const std::function<void(const SeenFrame&)>& take);
  /// Frames that were looked for, and lost because `read_seen` was not called in time.
  uint64_t unseen(uint32_t port) const;
  /// Sends whole frames, from their Ethernet header on, as they are. Returns how many the device
  /// took.
  size_t send(uint32_t port, std::vector<std::vector<uint8_t>> frames);
  /// Impairs the frames of one direction of a port from now on, each core's in its own order of
  /// chance; what is on its way arrives as it was to.
  void impair(uint32_t port, Direction direction, const ImpairmentSettings& settings);
  /// Of every port both directions.
  std::vector<PortImpairment> impairments() const;
  /// What is kept from flows on all ports, for the slow path.
  void set_service(const ServiceMode& mode);
  /// Whom packets of no flow are not answered, on all ports.
  void set_ignored(const Ignored& ignored);
  /// Disables or enables clients of the profiles that run; addresses that none has are left out.
  void enable_clients(const AddressRanges& addresses, bool enabled);
  /// Clients of the profiles that run.
  ClientAddresses clients() const;
  /// The device's own statistics by name, and ours that have no other place.
  std::vector<std::pair<std::string, uint64_t>> extended_statistics(uint32_t port) const;

  /// Starts a profile on all data cores, or on none. `client_mask` bit p: port p (even) opens
  /// flows. Throws ProfileError: no address to share, port taken by another run, unresolved
  /// destination.
  void start(const std::string& id, std::shared_ptr<const Profile> profile,
             const RunOptions& options, PortMask client_mask);
  void set_multiplier(const std::string& id, double multiplier);
  /// Holds `flows` client flows open on all cores together, reached over `ramp`.
  void hold(const std::string& id, uint64_t flows, Nanoseconds ramp);
  void stop_opening(const std::string& id);
  /// Cuts what is open. It takes the cores some turns: `status` tells when the run is closed.
  void close(const std::string& id);
  /// Closes a run and takes it out; waits until that is done.
  void remove(const std::string& id);
  /// Sums over cores; phase is the least advanced one.
  RunStatus status(const std::string& id) const;
  /// By core: connections of a run started with `samples_flows`, at most one of each side.
  std::vector<std::vector<tcp::Info>> watched_flows(const std::string& id);
  /// Counters of these runs and of the flow tables, sums over cores: one reading. All cores are
  /// asked at once, and each tells both sides of everything in one piece.
  CounterReading counters(const std::vector<std::string>& ids) const;
  /// Sums over cores, by template; of one histogram one moment, not of all.
  std::vector<LatencyBlock> latencies(const std::string& id) const;
  /// Sums over cores, by template; empty without a payload check.
  std::vector<PayloadBlock> payload(const std::string& id) const;
  /// Addresses and ports of the client and server pools of running profiles (m_total_clients ...).
  struct Population {
    uint64_t clients = 0, servers = 0, ports_in_use = 0;
  };
  Population population() const;

  /// Starts the latency stream of one port on all its cores; the first one sends. Throws
  /// ProfileError: unresolved destination of a client port.
  void start_latency(uint32_t port, const LatencyOptions& options);
  void set_latency_interval(Nanoseconds interval);
  /// Stops all; what they measured can still be read.
  void stop_latency();
  /// Sums over cores, since the last start.
  LatencyReport latency(uint32_t port) const;
  std::vector<PortDrops> drops() const;
  /// What the port's device lost by its own account.
  uint64_t device_losses(uint32_t port) const;
  /// Of the data cores; last the packet buffers of all ports.
  std::vector<PoolStatus> memory() const;
  /// Packet buffers by the bytes that one holds: how many are free, and how many there are.
  std::map<uint32_t, std::pair<uint64_t, uint64_t>> buffers() const;
  std::vector<CoreCycles> cycles() const;
  uint64_t tsc_hz() const;
  uint32_t core_count() const;
  uint32_t cores_per_pair() const;
  /// Seconds since the engine's epoch.
  double now() const;
  /// Wall-clock time (Unix) of that epoch.
  Nanoseconds wall_epoch() const;

 private:
  struct Implementation;
  std::unique_ptr<Implementation> implementation_;
};

}  // namespace engine
