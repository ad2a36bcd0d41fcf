#pragma once
// A data core's thread: polls its two ports, runs its flows, and obeys the control thread.

#include <atomic>
#include <exception>
#include <functional>
#include <thread>

#include "astf/core.h"
#include "capture/tap.h"
#include "io/clock.h"
#include "io/port.h"

namespace engine {

class DataThread {
 public:
  /// Work for the data thread, done between two bursts.
  using Job = std::function<void(DataCore& core, Nanoseconds now)>;

  /// Starts the thread on Linux CPU `cpu`. `with_dpdk`: it uses DPDK devices. Throws ConfigError
  /// when the CPU cannot be had.
  DataThread(const Clock& clock, const CoreConfig& config, uint32_t cpu, bool with_dpdk,
             std::array<PortQueue*, kSides> queues);
  ~DataThread();

  uint32_t cpu() const { return cpu_; }
  /// For what may be asked of a core from any thread (DataCore::prepare).
  const DataCore& core() const { return core_; }

  /// Has `job` done and waits for it; passes on what it throws. One control thread at a time.
  void run(const Job& job);

  // -- For jobs only
  // -----------------------------------------------------------------------------------

  PortQueue& queue(Side side) { return *queues_[index_of(side)]; }
  uint64_t total_cycles() const { return busy_ + idle_; }
  uint64_t busy_cycles() const { return busy_; }
  /// Looks at the frames of a port; nullptr: nobody does. Read by the control thread between jobs.
  std::unique_ptr<Tap>& tap(Side side) { return taps_[index_of(side)]; }
  /// Runs attached to the core; without any the thread sleeps between polls.
  void count_run(int change) { runs_ += change; }

 private:
  struct Request {
    const Job& job;
    std::exception_ptr error;
  };

  void loop();
  /// One round over ports and core. Returns when it found work (time-stamp counter), 0: it found
  /// none.
  uint64_t pass(Nanoseconds now);
  void answer(Request& request, Nanoseconds now);
  bool rest(uint64_t now);

  const Clock& clock_;
  const std::array<PortQueue*, kSides> queues_;
  const uint32_t cpu_;
  const bool with_dpdk_;
  DataCore core_;
  std::array<std::unique_ptr<Tap>, kSides> taps_;
  uint64_t busy_ = 0;
  uint64_t idle_ = 0;
  uint64_t next_yield_ = 0;
  uint32_t idle_passes_ = 0;
  int runs_ = 0;
  bool stopping_ = false;
  alignas(64) std::atomic<Request*> request_ = nullptr;
  std::atomic<int> answers_ = 0;  ///< a futex: an int, and it outlives every request
  std::thread thread_;
};

}  // namespace engine
