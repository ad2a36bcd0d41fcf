#pragma once
// What is kept of one profile, from its upload to the counters of its last run.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "control/runs.h"
#include "rpc/budgets.h"
#include "rpc/flow_samples.h"
#include "rpc/profile_state.h"
#include "rpc/resolution.h"
#include "rpc/run_progress.h"
#include "rpc/run_statistics.h"
#include "rpc/tls_rules.h"

namespace engine {

/// What a client uploaded, and what was parsed of it.
struct ProfileSource {
  static constexpr size_t kMaxBytes = size_t{256} << 20;  ///< of the profile's JSON

  explicit ProfileSource(ByteBudget& budget) : upload("Profile", kMaxBytes, budget) {}

  Fragments upload;
  std::string upload_md5;  ///< as the client said with the first of several fragments
  std::string text;        ///< the profile's JSON, once complete
  std::string md5;
  std::shared_ptr<const Profile> parsed;
  bool ipv6 = false;  ///< parsed with ipv6 forced
};

/// What a finished run leaves; what could not be read of it is as at its start.
struct RunResults {
  RunCounters counters;
  std::vector<LatencyBlock> latencies;
  RunReport report;
};

/// When the deletion of a profile was asked for, and when its owner got to know of it.
struct Deletion {
  double since = 0;
  std::optional<double> told;
};

struct ProfileSlot {
  /// `budget` pays for what is kept of the profile, `runs` for what its runs measure.
  ProfileSlot(ByteBudget& budget, ByteBudget& runs)
      : source(budget), kept(budget), measured(runs) {}

  ProfileState state = ProfileState::idle;
  /// Grows with each upload and each start; clients drop what they know of groups and counters.
  uint64_t epoch = 0;
  ProfileSource source;
  Charge kept;  ///< the slot, its text, and what was parsed of it

  // What runs from the next start on are like.
  PayloadCheckOptions payload_check;
  std::vector<TlsRule> tls;

  // The run started last.
  StartOptions options;
  std::optional<Resolution> resolution;  ///< of the ports that it needs, while it is being built
  std::unique_ptr<Run> handle;           ///< while it runs
  bool has_latency = false;              ///< latency streams run along, and end with it
  std::vector<std::string> notices;
  RunProgress progress;
  RunStatistics statistics;
  FlowSamples flow_samples;
  std::string tls_keys;  ///< that nobody has taken yet
  RunResults results;    ///< of the last finished one
  uint64_t results_bytes = 0;
  Charge measured;  ///< the run, and results

  Deletion deletion;

  /// Bytes of it beside what was parsed.
  uint64_t own_bytes() const { return sizeof *this + source.text.size(); }
  /// The run is known to the engine.
  bool running() const { return handle != nullptr; }
};

}  // namespace engine
