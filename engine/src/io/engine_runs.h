#pragma once
// Runs of profiles on all data cores of a machine.

#include <map>
#include <memory>
#include <vector>

#include "control/runs.h"
#include "io/machine.h"

namespace engine {

class EngineRun;

class EngineRuns final : public Runs {
 public:
  explicit EngineRuns(Machine& machine) : machine_(machine) {}

  std::unique_ptr<Run> start(std::shared_ptr<const Profile> profile, const RunOptions& options,
                             PortMask client_mask) override;
  CounterReading counters(const std::vector<const Run*>& runs) const override;
  void enable_clients(const AddressRanges& addresses, bool enabled) override;
  ClientAddresses clients() const override;
  Population population() const override;

 private:
  friend class EngineRun;

  Machine& machine_;
  std::map<const Run*, const EngineRun*> running_;
};

}  // namespace engine
