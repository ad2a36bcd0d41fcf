// What a machine's data cores use.

#include <algorithm>

#include "io/core_jobs.h"
#include "io/subjects.h"
#include "stats/run_counters.h"

namespace engine {

namespace {

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

std::vector<CoreCycles> EngineCores::cycles() const {
  return on_cores(machine_.threads(),
                  [this](size_t number, DataThread& thread, DataCore&, Nanoseconds) {
                    return CoreCycles{.core = static_cast<uint32_t>(number),
                                      .cpu = thread.cpu(),
                                      .pair = static_cast<uint32_t>(number % machine_.pairs()),
                                      .total = thread.total_cycles(),
                                      .busy = thread.busy_cycles(),
                                      .copying = thread.copying_cycles(),
                                      .sending = thread.sending_cycles()};
                  });
}

std::vector<BufferPool> EngineCores::buffer_pools() const {
  const auto cores = on_cores(machine_.threads(), [](size_t, DataThread& thread, DataCore&,
                                                     Nanoseconds) {
    return std::array{thread.queue(Side::client).buffers(), thread.queue(Side::server).buffers()};
  });
  std::vector<BufferPool> all;
  for (const auto& sides : cores) all.insert(all.end(), sides.begin(), sides.end());
  return all;
}

std::vector<PoolStatus> EngineCores::memory() const {
  const auto cores = on_cores(machine_.threads(), [](size_t, DataThread&, DataCore& core,
                                                     Nanoseconds) { return core.memory(); });
  std::vector<PoolStatus> sum = cores.front();
  for (size_t i = 1; i < cores.size(); ++i) add(sum, cores[i]);
  PoolStatus buffers{"packet buffer", 0, 0, 0};
  for (const BufferPool& pool : buffer_pools()) {
    buffers.object_bytes = std::max<uint64_t>(buffers.object_bytes, pool.object_bytes);
    buffers.in_use += pool.count - pool.free;
    buffers.reserved_bytes += pool.reserved_bytes;
  }
  sum.push_back(buffers);
  return sum;
}

std::map<uint32_t, std::pair<uint64_t, uint64_t>> EngineCores::buffers() const {
  std::map<uint32_t, std::pair<uint64_t, uint64_t>> sizes;
  for (const BufferPool& pool : buffer_pools()) {
    if (pool.count == 0) continue;
    sizes[pool.object_bytes].first += pool.free;
    sizes[pool.object_bytes].second += pool.count;
  }
  return sizes;
}

}  // namespace

std::unique_ptr<Cores> make_cores(const Machine& machine) {
  return std::make_unique<EngineCores>(machine);
}

}  // namespace engine
