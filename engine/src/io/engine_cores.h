#pragma once
// What a machine's data cores use.

#include "control/cores.h"
#include "io/machine.h"

namespace engine {

class EngineCores final : public Cores {
 public:
  explicit EngineCores(const Machine& machine) : machine_(machine) {}

  uint32_t count() const override { return static_cast<uint32_t>(machine_.threads().size()); }
  uint32_t count_per_pair() const override {
    return static_cast<uint32_t>(count() / machine_.pairs());
  }
  std::vector<CoreCycles> cycles() const override;
  uint64_t tsc_hz() const override { return machine_.clock().hz(); }
  std::vector<PoolStatus> memory() const override;
  std::map<uint32_t, std::pair<uint64_t, uint64_t>> buffers() const override;

 private:
  /// Packet buffers of every queue.
  std::vector<BufferPool> buffer_pools() const;

  const Machine& machine_;
};

}  // namespace engine
