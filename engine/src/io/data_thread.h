#pragma once
// A data core's thread: polls its two ports, runs its flows, and obeys the control thread.

#include <atomic>
#include <exception>
#include <functional>
#include <string>
#include <thread>

#include "astf/core.h"
#include "io/clock.h"
#include "io/frame_exchange.h"
#include "io/port_chain.h"

namespace engine {

class DataThread {
 public:
  /// Work for the data thread, done between two bursts.
  using Job = std::function<void(DataCore& core, Nanoseconds now)>;

  /// Starts the thread on Linux CPU `cpu`. `name`: of 15 characters at most. `with_dpdk`: it uses
  /// DPDK devices. `sleeps`: as EngineConfig::sleeps. `rings`: those between the cores of its
  /// ports; nullptr: it is their only one. Throws ConfigError when the CPU cannot be had.
  DataThread(const Clock& clock, const CoreConfig& config, uint32_t cpu, const std::string& name,
             bool with_dpdk, bool sleeps, std::array<PortQueue*, kSides> queues,
             std::shared_ptr<ExchangeRings> rings = nullptr);
  ~DataThread();

  uint32_t cpu() const { return cpu_; }
  /// For what may be asked of a core from any thread (DataCore::prepare).
  const DataCore& core() const { return core_; }

  /// A job under way. It and the job outlive the answer.
  class Request {
   public:
    explicit Request(const Job& job) : job_(job) {}

   private:
    friend class DataThread;
    const Job& job_;
    std::exception_ptr error_;
    int before_ = 0;  ///< answers of the thread when it was asked
  };

  /// Has `job` done and waits for it; passes on what it throws. One control thread at a time.
  void run(const Job& job);
  /// The same in two steps, so that several threads may be asked at once. Every `ask` needs its
  /// `finish` before the next one.
  void ask(Request& request);
  void finish(Request& request);

  // -- For jobs only
  // -----------------------------------------------------------------------------------

  PortChain& chain(Side side) { return chains_[index_of(side)]; }
  PortQueue& queue(Side side) { return chain(side).queue(); }
  uint64_t total_cycles() const { return busy_ + idle_; }
  /// Of passes that found work, from then on. What other threads had the CPU in a long pass is in
  /// neither this nor the parts below.
  uint64_t busy_cycles() const { return busy_; }
  uint64_t sending_cycles() {
    return queue(Side::client).sending_cycles() + queue(Side::server).sending_cycles() -
           waited_sending_;
  }
  uint64_t copying_cycles() {
    return queue(Side::client).copying_cycles() + queue(Side::server).copying_cycles() -
           waited_copying_;
  }
  /// What it gave to other cores of its ports and got from them. nullptr: it is their only one.
  const FrameExchange* exchange() const { return exchange_.get(); }
  /// Runs attached to the core; without any the thread sleeps between polls.
  void count_run(int change) { runs_ += change; }

 private:
  void loop();
  /// One round over ports and core. Returns when it found work (time-stamp counter), 0: it found
  /// none.
  uint64_t pass(Nanoseconds now);
  void receive(Side side, std::span<const Frame> frames, Nanoseconds now);
  /// Takes what other cores of the ports gave. Returns whether there was anything.
  bool take_given(Nanoseconds now);
  void answer(Request& request, Nanoseconds now);
  bool rest(uint64_t now);
  void sleep_until_due(uint64_t now);

  const Clock& clock_;
  std::array<PortChain, kSides> chains_;
  const uint32_t cpu_;
  const bool with_dpdk_;
  const bool sleeps_;
  DataCore core_;
  std::unique_ptr<FrameExchange> exchange_;
  uint64_t busy_ = 0;
  uint64_t idle_ = 0;
  uint64_t waited_sending_ = 0;  ///< cycles of other threads in the queues' sending_cycles
  uint64_t waited_copying_ = 0;  ///< and in their copying_cycles
  uint64_t next_yield_ = 0;
  uint32_t idle_passes_ = 0;
  int runs_ = 0;
  bool stopping_ = false;
  alignas(64) std::atomic<Request*> request_ = nullptr;
  std::atomic<int> answers_ = 0;  ///< a futex: an int, and it outlives every request
  std::thread thread_;
};

}  // namespace engine
