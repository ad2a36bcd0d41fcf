#include "io/data_thread.h"

#include <fmt/format.h>
#include <poll.h>
#include <pthread.h>
#include <rte_lcore.h>
#include <sched.h>
#include <signal.h>

#include <algorithm>
#include <ctime>

#include "control/config.h"
#include "io/cpu_wait.h"

namespace engine {
namespace {

/// Bursts taken from a port in one pass at most. They are many more frames than what one pass opens
/// brings, so that an overloaded core answers the flows it has and opens later, by its own account,
/// instead of letting the port's ring overflow.
constexpr int kBurstsPerPass = 16;

/// Frames waiting for a device from which on it is the limit: its core then sends what it has,
/// rather than make more. A burst of requests, or of ACKs, may be answered by as many again, for
/// which the device's queue has to have room (PortQueue::kWaiting).
constexpr size_t kCrowded = 1024;

/// A pass, or a rest, that took longer than one part in so many of a second is long: other threads
/// may have had the CPU in it.
constexpr uint64_t kLongPass = 1000;
constexpr uint64_t kLongRest = 20'000;

constexpr uint32_t kPassesToYield = 256;
constexpr uint32_t kPassesToSleep = 4096;
constexpr timespec kSleep{0, kMillisecond};

/// A yield that took longer than one part in so many of a second gave the CPU to a long task ...
constexpr uint64_t kLongAbsence = 2000;
/// ... and the next one is due after so many times what it took.
constexpr uint64_t kYieldPause = 10;

/// A part of a pass without what its thread waited for the CPU. If the part is not long, the wait
/// was in another one.
uint64_t without(uint64_t part, uint64_t wait, uint64_t is_long) {
  return part > is_long ? part - std::min(part, wait) : part;
}

std::array<TransmitQueue*, kSides> transmit_queues(std::array<PortQueue*, kSides> queues) {
  return {&queues[0]->transmit(), &queues[1]->transmit()};
}

}  // namespace

DataThread::DataThread(const Clock& clock, const CoreConfig& config, uint32_t cpu,
                       const std::string& name, bool with_dpdk, bool sleeps,
                       std::array<PortQueue*, kSides> queues, std::shared_ptr<ExchangeRings> rings)
    : clock_(clock),
      chains_{PortChain(clock, *queues[0]), PortChain(clock, *queues[1])},
      cpu_(cpu),
      with_dpdk_(with_dpdk),
      sleeps_(sleeps),
      core_(config, transmit_queues(queues)),
      exchange_(rings == nullptr
                    ? nullptr
                    : std::make_unique<FrameExchange>(
                          std::move(rings), config.thread / config.pairs, config.steering())),
      thread_([this] { loop(); }) {
  pthread_setname_np(thread_.native_handle(), name.c_str());
  cpu_set_t cpus;
  CPU_ZERO(&cpus);
  CPU_SET(cpu, &cpus);
  try {
    if (pthread_setaffinity_np(thread_.native_handle(), sizeof cpus, &cpus) != 0)
      throw ConfigError(fmt::format("cannot run a data core on CPU {}", cpu));
    if (with_dpdk)  // its place in DPDK's per-thread memory caches
      run([](DataCore&, Nanoseconds) {
        if (rte_thread_register() != 0)
          throw ConfigError("DPDK takes no more threads; use fewer data cores");
      });
  } catch (...) {
    run([this](DataCore&, Nanoseconds) { stopping_ = true; });
    thread_.join();
    throw;
  }
}

DataThread::~DataThread() {
  run([this](DataCore&, Nanoseconds) {
    if (with_dpdk_) rte_thread_unregister();
    stopping_ = true;
  });
  thread_.join();
}

void DataThread::run(const Job& job) {
  Request request(job);
  ask(request);
  finish(request);
}

void DataThread::ask(Request& request) {
  request.before_ = answers_.load(std::memory_order_relaxed);
  request_.store(&request, std::memory_order_release);
}

void DataThread::finish(Request& request) {
  answers_.wait(request.before_, std::memory_order_acquire);
  if (request.error_) std::rethrow_exception(request.error_);
}

void DataThread::loop() {
  sigset_t all;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, nullptr);  // signals are the control thread's

  const uint64_t is_long = clock_.hz() / kLongPass;
  CpuWait waits;
  uint64_t from = Clock::read();
  while (!stopping_) {
    const uint64_t sent = sending_cycles(), copied = copying_cycles();
    const uint64_t work_from = pass(clock_.at(from));
    const uint64_t to = Clock::read();
    const bool busy = work_from != 0;
    uint64_t work = busy ? to - work_from : 0;
    if (to - from > is_long) {
      const uint64_t wait = sleeps_ ? 0 : clock_.cycles(waits.take());
      const uint64_t sending = sending_cycles() - sent;
      const uint64_t copying = copying_cycles() - copied;
      waited_sending_ += sending - without(sending, wait, is_long);
      waited_copying_ += copying - without(copying, wait, is_long);
      work = without(work, wait, is_long);
    }
    busy_ += work;
    idle_ += to - from - work;
    idle_passes_ = busy ? 0 : idle_passes_ + 1;
    from = to;
    Request* const request = request_.load(std::memory_order_acquire);
    if (request != nullptr) answer(*request, clock_.at(to));
    if (request != nullptr || (!busy && rest(to))) {
      from = Clock::read();
      idle_ += from - to;
      // This wait was in no pass. An engine that sleeps rests after each frame, and is asked for
      // its instructions instead of its times: a reading each time would be a part of them.
      if (!sleeps_ && from - to > clock_.hz() / kLongRest) waits.take();
    }
  }
}

// A burst of requests may be answered by ten times as many frames. So the sides take bursts in
// turn: the other side may be the one that empties a side's device. A side that is crowded leaves
// its turn to the other one while that receives, and takes one burst in a pass where that does not,
// because it may wait for what this burst brings. While a side is crowded, no flow is opened.
//
// Work is counted from the moment it is found. What comes before that in a pass is polling, and may
// hold another thread's time: the kernel's poll of an AF_XDP port runs on this CPU, and it is what
// brings the frames that the pass then finds.
uint64_t DataThread::pass(Nanoseconds now) {
  uint64_t work_from = 0;
  std::array<bool, kSides> received{};
  std::array<bool, kSides> done{};
  bool crowded = false;
  for (int burst = 0; burst < kBurstsPerPass && !(done[0] && done[1]); ++burst) {
    for (const Side side : {Side::client, Side::server}) {
      const uint32_t number = index_of(side);
      if (done[number]) continue;
      PortChain& port = chain(side);
      const bool full = port.queue().send_waiting() >= kCrowded;
      crowded = crowded || full;
      done[number] = full;
      if (full && received[1 - number]) continue;
      const std::span<const Frame> frames = port.receive();
      if (!frames.empty()) {
        // The frames are here by now; the poll itself may have taken long.
        const uint64_t here = Clock::read();
        now = clock_.at(here);
        if (work_from == 0) work_from = here;
        receive(side, frames, now);
        received[number] = true;
      }
      port.release();  // there may have been frames, none of them ours
      if (frames.size() < TransmitQueue::kBurst) done[number] = true;
    }
  }
  const uint64_t before = work_from == 0 ? Clock::read() : 0;
  if (exchange_ != nullptr && take_given(now) && work_from == 0) work_from = before;
  if (core_.advance(now, !crowded) > 0 && work_from == 0) work_from = before;
  for (PortChain& port : chains_) port.flush();
  if (core_.begin_handshake_step(now)) {
    if (work_from == 0) work_from = before;
    core_.end_handshake_step(clock_.at(Clock::read()));
    for (PortChain& port : chains_) port.flush();
  }
  return work_from;
}

void DataThread::receive(Side side, std::span<const Frame> frames, Nanoseconds now) {
  if (exchange_ == nullptr) [[likely]] {
    core_.receive(side, frames, now);
    return;
  }
  while (!frames.empty()) {
    const size_t count = std::min(frames.size(), TransmitQueue::kBurst);
    core_.receive(side, exchange_->sort(side, frames.first(count)), now);
    frames = frames.subspan(count);
  }
}

bool DataThread::take_given(Nanoseconds now) {
  size_t count = 0;
  for (const Side side : {Side::client, Side::server})
    count += exchange_->take(
        side, [&](std::span<const Frame> frames) { core_.receive(side, frames, now); });
  return count != 0;
}

void DataThread::answer(Request& request, Nanoseconds now) {
  request_.store(nullptr, std::memory_order_relaxed);
  try {
    request.job_(core_, now);
  } catch (...) {
    request.error_ = std::current_exception();
  }
  answers_.fetch_add(1, std::memory_order_release);
  answers_.notify_one();
  sched_yield();  // the asker may live on this CPU and have more to ask
}

// A data core polls: waiting for an interrupt would cost it more than what it measures. But on a
// small machine it shares its CPU with the control thread and with whoever drives the test. So,
// with a run attached and nothing to do, it offers its turn now and then. Short tasks are served at
// once in its idle moments, not in the middle of a burst when the scheduler's tick comes; nobody
// waiting, this costs a fraction of a microsecond in 256 passes. A task that keeps the CPU to the
// end of its slice delays flows by milliseconds, so after one the next offer waits: such tasks get
// what the scheduler grants them (the engine runs at a raised priority where it may, which counts
// within its session only where the kernel groups tasks by session). Measured on one CPU at 10,000
// flows a second, opened more than 1 ms late: 0.1 % with the control plane asked 20 times a second;
// beside a task that never sleeps 13 %, against 64 % with an offer every time.
//
// Without a run it sleeps between polls: an engine that is merely up takes next to nothing from
// what is measured beside it.
bool DataThread::rest(uint64_t now) {
  if (runs_ == 0) {
    if (idle_passes_ < kPassesToSleep) return false;
    nanosleep(&kSleep, nullptr);
    return true;
  }
  if (sleeps_) {
    sleep_until_due(now);
    return true;
  }
  if (idle_passes_ % kPassesToYield != 0 || now < next_yield_) return false;
  sched_yield();
  const uint64_t back = Clock::read();
  if (back - now > clock_.hz() / kLongAbsence) next_yield_ = back + kYieldPause * (back - now);
  return true;
}

// Timers of flows are looked at once in kSleep, which is late for none that a test waits for.
void DataThread::sleep_until_due(uint64_t now) {
  const Nanoseconds left = core_.next_start() - clock_.at(now);
  if (left <= 0) return;
  std::array<pollfd, kSides> ports{};
  for (size_t side = 0; side < kSides; ++side)
    ports[side] = {chains_[side].queue().descriptor(), POLLIN, 0};
  const timespec longest{0, std::min<Nanoseconds>(left, kMillisecond)};
  ppoll(ports.data(), ports.size(), &longest, nullptr);
}

}  // namespace engine
