#pragma once
// Runs of profiles, as the control plane starts, steers and reads them.

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "astf/address_ranges.h"
#include "astf/profile.h"
#include "astf/run_status.h"
#include "control/config.h"
#include "stats/latency.h"
#include "stats/run_counters.h"
#include "stats/run_report.h"
#include "tcp/info.h"

namespace engine {

/// A run on all data cores, from its start until it is removed.
class Run {
 public:
  virtual ~Run() = default;

  virtual void set_multiplier(double multiplier) = 0;
  /// Holds `flows` client flows open on all cores together, reached over `ramp`.
  virtual void hold(uint64_t flows, Nanoseconds ramp) = 0;
  virtual void stop_opening() = 0;
  /// Cuts what is open. It takes the cores some turns: `status` tells when the run is closed.
  virtual void close() = 0;
  /// Closes the run and takes it out; waits until that is done, and nothing refers to the profile
  /// any more. It is the last call.
  virtual void remove() = 0;

  /// What of the profile's settings the ports do not allow, as it was at the start.
  virtual const std::vector<std::string>& notices() const = 0;
  virtual RunStatus status() const = 0;
  /// By template; of one histogram one moment, not of all.
  virtual std::vector<LatencyBlock> latencies() const = 0;
  virtual RunReport report() const = 0;
  /// Takes what was kept of secrets of TLS connections: lines in the format of SSLKEYLOGFILE.
  virtual std::string take_tls_keys() = 0;
  /// By core: connections of a run started with `samples_flows`, at most one of each side.
  virtual std::vector<std::vector<tcp::Info>> sampled_flows() const = 0;
};

/// Addresses of the client and server pools of running profiles, and their ports in use
/// (m_total_clients ...).
struct Population {
  uint64_t clients = 0;
  uint64_t servers = 0;
  uint64_t ports_in_use = 0;
};

/// Bytes that a run may take.
struct RunMemory {
  uint64_t cores = 0;    ///< on all data cores together, while it runs
  uint64_t results = 0;  ///< for what is read of it
};

class Runs {
 public:
  virtual ~Runs() = default;

  virtual RunMemory memory_of(const Profile& profile, const RunOptions& options) const = 0;

  /// Starts a profile on all data cores, or on none. `client_mask` bit p: port p (even) opens
  /// flows; without a topology these ports know where to send (PortState::resolved). Throws
  /// ProfileError: no address to share, port taken by another run.
  virtual std::unique_ptr<Run> start(std::shared_ptr<const Profile> profile,
                                     const RunOptions& options, PortMask client_mask) = 0;
  /// Counters of these runs and of the flow tables, sums over cores: one reading. All cores are
  /// asked at once, and each tells both sides of everything in one piece.
  virtual CounterReading counters(const std::vector<const Run*>& runs) const = 0;
  /// Disables or enables clients of the profiles that run; addresses that none has are left out.
  virtual void enable_clients(const AddressRanges& addresses, bool enabled) = 0;
  /// Clients of the profiles that run.
  virtual ClientAddresses clients() const = 0;
  virtual Population population() const = 0;
};

}  // namespace engine
