#pragma once
// Ports and cores over time: rates, utilisation, and the objects clients read them from.

#include <cstdint>
#include <deque>
#include <vector>

#include "control/ports.h"
#include "control/subjects.h"
#include "json/json_text.h"
#include "rpc/profiles.h"
#include "stats/gauges.h"

namespace engine {

class MachineStatistics {
 public:
  explicit MachineStatistics(const Subjects& engine);

  /// Takes readings for rates and utilisation; every 0.5 to 1 s.
  void sample();

  /// Answer of get_global_stats. Rates are of frames without FCS.
  Json global_stats(const ProfileTable& profiles) const;
  /// Answer of get_port_stats.
  Json port_stats(uint32_t port) const;
  /// `cpu` of get_utilization: percentages per core, newest first.
  Json core_histories() const;

 private:
  struct PortRates {
    SmoothedRate bytes_out, bytes_in, packets_out, packets_in;
  };
  struct CoreUse {
    CoreCycles before;
    double percent = 0;      ///< smoothed
    double percent_raw = 0;  ///< since the last reading
    std::deque<int> history;
  };

  double mean_percent(double CoreUse::*percent) const;
  /// Mean of the cores that serve `port`.
  double port_percent(uint32_t port) const;

  const Subjects engine_;
  std::vector<PortRates> ports_;
  std::vector<CoreUse> cores_;
};

/// What a user should know of the ports' devices while they are in use, said on standard error.
class DeviceWarnings {
 public:
  explicit DeviceWarnings(const Ports& ports) : ports_(ports), told_(ports.infos().size()) {}

  /// Says what is new since the last look. What grows is said again when it has doubled.
  void look();

 private:
  struct Told {
    uint64_t refused = 0;  ///< frames
    bool assumed_tags = false;
  };

  const Ports& ports_;
  std::vector<Told> told_;  ///< by port
};

}  // namespace engine
