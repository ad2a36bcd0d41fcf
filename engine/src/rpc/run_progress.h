#pragma once
// A run from its start to its end: what its client asked for, how far it is, what to do with it.

#include <cstdint>
#include <memory>
#include <optional>

#include "control/runs.h"
#include "rpc/latency.h"
#include "rpc/run_statistics.h"

namespace engine {

/// Arguments of `start`.
struct StartOptions {
  double multiplier = 1;
  double duration_s = -1;  ///< <= 0: no end
  bool no_close = false;   ///< nc: cut open flows when the duration is over
  bool ipv6 = false;
  uint32_t client_mask = 0xffffffff;
  double establish_limit_s = 0;  ///< e_duration: no flow established by then, no more are opened
  std::shared_ptr<const Topology> topology{};  ///< nullptr: none
  /// Of latency streams; nullopt: the profile's own (latency_addresses).
  std::optional<LatencyControl::Addresses> latency{};
  double latency_rate = 0;       ///< latency_pps: packets per second of latency streams; 0: none
  double sample_interval_s = 0;  ///< dump_interval: between samples of flows; 0: none
  double drain_limit_s = 0;      ///< t_duration: how long flows may go on after the duration
};

/// How far a run is.
struct RunProgress {
  RunStatus status;                    ///< as last seen; final after the run
  double started = 0;                  ///< this time and the others are the clock's, in seconds
  std::optional<double> draining;      ///< since when no flows are opened
  std::optional<double> clients_done;  ///< since when, in addition, no client flow is open
};

/// What to do with a running profile.
enum class RunStep : uint8_t {
  carry_on,
  stop_opening,  ///< let open flows finish
  finish,        ///< remove what is left
};

/// Decides at `now`; keeps the times of `progress`, whose status is fresh, and of `traffic`.
RunStep next_step(RunProgress& progress, const StartOptions& options, TrafficTime& traffic,
                  double now);

}  // namespace engine
