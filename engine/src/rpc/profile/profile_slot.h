#pragma once
// One profile as the control plane keeps it, from upload to the counters of its last run.

#include <memory>
#include <optional>
#include <string>

#include "control/runs.h"
#include "rpc/memory/byte_budget.h"
#include "rpc/network/resolution.h"
#include "rpc/profile/flow_samples.h"
#include "rpc/profile/profile_state.h"
#include "rpc/protocol/fragments.h"
#include "rpc/statistics/run_statistics.h"

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
  double latency_rate = 0;       ///< latency_pps: packets per second of latency streams; 0: none
  double sample_interval_s = 0;  ///< dump_interval: between samples of flows; 0: none
  double drain_limit_s = 0;      ///< t_duration: how long flows may go on after the duration
};

struct ProfileSlot {
  static constexpr size_t kMaxBytes = size_t{256} << 20;  ///< of the profile's JSON

  /// `budget` pays for what is kept of the profile.
  explicit ProfileSlot(ByteBudget& budget) : upload("Profile", kMaxBytes, budget), kept(budget) {}

  ProfileState state = ProfileState::idle;

  // upload
  Fragments upload;
  Charge kept;             ///< the slot, its text, and what was parsed of it
  std::string upload_md5;  ///< as the client said with the first of several fragments
  std::string text;        ///< the profile's JSON, once complete
  std::string md5;

  // parsed
  std::shared_ptr<const Profile> profile;
  bool profile_ipv6 = false;  ///< parsed with ipv6 forced

  // run
  StartOptions options;
  std::optional<Resolution> resolution;  ///< of the ports that the run being built needs
  PayloadCheckOptions payload_check;     ///< of the runs from the next start on
  double started = 0;
  std::optional<double> draining;        ///< since when no flows are opened
  std::optional<double> clients_done;    ///< since when, in addition, no client flow is open
  std::unique_ptr<Run> handle;           ///< while it runs
  std::vector<std::string> run_notices;  ///< of the run started last
  RunStatus run;                         ///< as last seen; final after the run
  RunCounters final_counters;            ///< of the last finished run
  std::vector<LatencyBlock> final_latencies;
  std::vector<PayloadBlock> final_payload;
  RunStatistics statistics;
  FlowSamples flow_samples;
  bool has_latency = false;  ///< latency streams run along, and end with it

  // deletion
  double deleting = 0;                  ///< since when
  std::optional<double> deletion_told;  ///< since when the owner knows of it

  /// Grows with each upload and each start; clients drop what they know of groups and counters.
  uint64_t epoch = 0;

  /// Bytes of it beside what was parsed.
  uint64_t own_bytes() const { return sizeof *this + text.size(); }
  /// The run is known to the engine.
  bool running() const { return handle != nullptr; }
};

/// What to do with a running profile.
enum class RunStep : uint8_t {
  carry_on,
  stop_opening,  ///< let open flows finish
  finish,        ///< remove what is left
};

/// Decides at `now`; keeps the slot's times. `slot.run` is fresh.
RunStep next_step(ProfileSlot& slot, double now);

}  // namespace engine
