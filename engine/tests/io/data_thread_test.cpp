#include "io/data_thread.h"

#include <gtest/gtest.h>
#include <sched.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "astf/run.h"
#include "base/random.h"
#include "io/core_jobs.h"
#include "io/engine_tools.h"
#include "json/parse_profile.h"
#include "net/send_heads.h"

namespace engine {
namespace {

/// A port to nowhere that counts how often it is polled: once in a turn of the loop where it
/// receives nothing.
class PolledQueue final : public PortQueue {
 public:
  PolledQueue() : PortQueue({}) {
    for (Frame& frame : frames_) {
      frame.head = bytes_.data();
      frame.head_length = static_cast<uint16_t>(bytes_.size());
    }
  }

  std::span<const Frame> receive() override {
    ++polls;
    if (receives) return frames_;
    return {};
  }
  void release() override {
    const uint64_t from = Clock::read();
    for (uint32_t i = 0; i < work; ++i) sum_ += random_.next();
    const uint64_t to = Clock::read();
    sending_ += to - from;
    for (uint32_t i = 0; i < work; ++i) sum_ += random_.next();
    copying_ += Clock::read() - to;
  }
  size_t send_waiting() override { return waiting; }
  int descriptor() const override { return arrivals; }

  // For jobs:
  uint64_t polls = 0;
  bool receives = false;  ///< full bursts, of frames that nobody wants
  size_t waiting = 0;     ///< frames to send that wait for the device
  int arrivals = -1;      ///< that a sleeping thread waits at
  uint32_t work = 0;      ///< random numbers made in `release`, counted as sending; and as copying

 private:
  void send(std::span<Frame>) override {}
  void refill(Frame& slot) override { heads_.refill(slot); }

  SendHeads heads_;
  Random random_{1};
  uint64_t sum_ = 0;  ///< so that the work is done
  std::array<uint8_t, 60> bytes_{};
  std::array<Frame, TransmitQueue::kBurst> frames_{};
};

/// Lets the thread go through its loop so many times at least.
void turns(DataThread& thread, PolledQueue& polled, uint64_t count) {
  uint64_t polls = 0;
  const auto read = [&] { thread.run([&](DataCore&, Nanoseconds) { polls = polled.polls; }); };
  read();
  const uint64_t end = polls + count;
  do {
    read();
  } while (polls < end);
}

/// How many milliseconds so many turns take.
double milliseconds_of(DataThread& thread, PolledQueue& polled, uint64_t count) {
  const auto begin = std::chrono::steady_clock::now();
  turns(thread, polled, count);
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin)
      .count();
}

/// Cycles for each poll of a port. Of several spells of 100 ms the one with the least busy time.
struct PollCost {
  double busy = 1e18;
  double sending = 0;
  double copying = 0;
};

PollCost poll_cost(DataThread& thread, PolledQueue& polled) {
  PollCost least;
  for (int spell = 0; spell < 5; ++spell) {
    uint64_t polls = 0;
    uint64_t busy = 0;
    uint64_t sending = 0;
    uint64_t copying = 0;
    const auto add = [&](DataCore&, Nanoseconds) {
      polls = polled.polls - polls;
      busy = thread.busy_cycles() - busy;
      sending = thread.sending_cycles() - sending;
      copying = thread.copying_cycles() - copying;
    };
    thread.run(add);
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    thread.run(add);
    const auto count = static_cast<double>(polls);
    const PollCost cost{static_cast<double>(busy) / count, static_cast<double>(sending) / count,
                        static_cast<double>(copying) / count};
    if (cost.busy < least.busy) least = cost;
  }
  return least;
}

/// Many templates, on a port each.
std::shared_ptr<const Profile> many_templates(size_t count) {
  std::string templates;
  for (size_t t = 0; t < count; ++t)
    templates += (t == 0 ? "" : ",") +
                 std::string(R"({"client_template": {"program_index": 0, "cps": 1, "port": )") +
                 std::to_string(1000 + t) + R"(, "cluster": {},
                     "ip_gen": {"dist_client": {"index": 0}, "dist_server": {"index": 1}}},
                   "server_template": {"program_index": 1, "assoc": [{"port": )" +
                 std::to_string(1000 + t) + "}]}}";
  return parse_profile(
      R"({"buf_list": ["R0VU"],
          "ip_gen_dist_list": [
            {"ip_start": "16.0.0.1", "ip_end": "16.0.0.9", "distribution": "seq", "dir": "c",
             "ip_offset": "1.0.0.0"},
            {"ip_start": "48.0.0.1", "ip_end": "48.0.0.2", "distribution": "seq", "dir": "s",
             "ip_offset": "1.0.0.0"}],
          "program_list": [
            {"commands": [{"name": "tx", "buf_index": 0}]},
            {"commands": [{"name": "rx", "min_bytes": 3}]}],
          "templates": [)" +
          templates + "]}",
      false);
}

uint32_t this_cpu() {
  return static_cast<uint32_t>(sched_getcpu());
}

/// Counts how often it was copied or moved since it was made.
struct Copied {
  Copied() = default;
  Copied(const Copied& other) : times(other.times + 1) {}
  Copied& operator=(const Copied& other) {
    times = other.times + 1;
    return *this;
  }
  int times = 0;
};

TEST(DataThread, CopiesWhatAJobRefersToOnce) {
  const Clock clock;
  PolledQueue client;
  PolledQueue server;
  DataThread thread(clock, {}, this_cpu(), "data-0", false, false, {&client, &server});
  const Copied kept;
  const auto answers = on_cores(
      std::array{&thread}, [&](size_t, DataThread&, DataCore&, Nanoseconds) -> const auto& {
        return kept;
      });
  EXPECT_EQ(answers.front().times, 1);
}

TEST(DataThread, ACrowdedSideLeavesItsTurnWhileTheOtherReceives) {
  const Clock clock;
  PolledQueue client;
  PolledQueue server;
  DataThread thread(clock, {}, this_cpu(), "data-0", false, false, {&client, &server});
  thread.run([&](DataCore&, Nanoseconds) {
    server.waiting = 2000;
    client.receives = true;
    server.polls = 0;
  });
  turns(thread, client, 1000);
  thread.run([&](DataCore&, Nanoseconds) {
    EXPECT_EQ(server.polls, 0u);
    client.receives = false;
  });
  turns(thread, client, 1000);  // both may wait for each other
  thread.run([&](DataCore&, Nanoseconds) {
    EXPECT_GT(server.polls, 900u);
    server.waiting = 100;
    client.receives = true;
    server.polls = client.polls = 0;
  });
  turns(thread, client, 1600);
  thread.run([&](DataCore&, Nanoseconds) { EXPECT_GT(server.polls, client.polls / 20); });
}

TEST(DataThread, CountsNoTimeInWhichOtherThreadsHadItsCpu) {
  const Clock clock;
  PolledQueue client;
  PolledQueue server;
  DataThread thread(clock, {}, this_cpu(), "data-0", false, false, {&client, &server});
  thread.run([&](DataCore&, Nanoseconds) {
    client.receives = true;
    client.work = 500;
  });
  const PollCost alone = poll_cost(thread, client);
  std::atomic<bool> stop = false;
  std::vector<std::thread> others;
  for (int i = 0; i < 3; ++i)
    others.emplace_back([&] {
      cpu_set_t cpus;
      CPU_ZERO(&cpus);
      CPU_SET(thread.cpu(), &cpus);
      EXPECT_EQ(sched_setaffinity(0, sizeof cpus, &cpus), 0);
      while (!stop) {
      }
    });
  const PollCost beside = poll_cost(thread, client);
  stop = true;
  for (std::thread& other : others) other.join();
  EXPECT_LT(beside.busy, 1.4 * alone.busy);
  EXPECT_LT(beside.sending, 1.4 * alone.sending);
  EXPECT_GT(beside.busy, alone.busy / 1.4);
  EXPECT_GT(beside.sending, alone.sending / 1.4);
  EXPECT_LT(beside.copying, 1.4 * alone.copying);
  EXPECT_GT(beside.copying, alone.copying / 1.4);
  EXPECT_GE(beside.busy, beside.sending + beside.copying);
}

TEST(DataThread, OpensNoFlowWhileASideIsCrowded) {
  const Clock clock;
  PolledQueue client;
  PolledQueue server;
  DataThread thread(clock, {}, this_cpu(), "data-0", false, false, {&client, &server});
  RunOptions options;
  options.multiplier = 1e6;
  auto run = thread.core().prepare(many_templates(1), options);
  ProfileRun& attached = *run;
  const auto status = [&] {
    RunStatus seen;
    turns(thread, client, 1000);
    thread.run([&](DataCore& core, Nanoseconds) { seen = core.status(attached); });
    return seen;
  };
  thread.run([&](DataCore& core, Nanoseconds now) {
    server.waiting = 2000;
    core.attach(run, now);
    thread.count_run(1);
  });
  while (status().intended < 1000) {
  }
  EXPECT_EQ(status().opened, 0u);
  thread.run([&](DataCore&, Nanoseconds) { server.waiting = 100; });
  EXPECT_GT(status().opened, 0u);
}

// Each turn of a thread that sleeps in full takes a millisecond, however busy the machine is.
TEST(DataThread, SleepsUntilAFrameArrivesAtMostAMillisecond) {
  const Clock clock;
  PolledQueue client;
  PolledQueue server;
  server.arrivals = eventfd(0, EFD_CLOEXEC);
  DataThread thread(clock, {}, this_cpu(), "data-0", false, true, {&client, &server});
  thread.run([&](DataCore&, Nanoseconds) { thread.count_run(1); });
  const auto begin = std::chrono::steady_clock::now();
  uint64_t before = 0;
  uint64_t after = 0;
  thread.run([&](DataCore&, Nanoseconds) { before = client.polls; });
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  thread.run([&](DataCore&, Nanoseconds) { after = client.polls; });
  const std::chrono::duration<double, std::milli> passed = std::chrono::steady_clock::now() - begin;
  EXPECT_GT(after, before);
  EXPECT_LE(static_cast<double>(after - before), passed.count() + 1);
  ASSERT_EQ(eventfd_write(server.arrivals, 1), 0);  // nobody takes it: there is always a frame
  EXPECT_LT(milliseconds_of(thread, client, 5000), 2500);
  thread.run([&](DataCore&, Nanoseconds) { close(server.arrivals); });
}

TEST(DataThread, SleepsNoLongerThanToTheNextStart) {
  const Clock clock;
  PolledQueue client;
  PolledQueue server;
  DataThread thread(clock, {}, this_cpu(), "data-0", false, true, {&client, &server});
  RunOptions options;
  options.multiplier = 10'000;
  auto run = thread.core().prepare(many_templates(1), options);
  thread.run([&](DataCore& core, Nanoseconds now) {
    core.attach(run, now);
    thread.count_run(1);
  });
  // To 5,000 starts a tenth of a millisecond apart.
  EXPECT_LT(milliseconds_of(thread, client, 5000), 2500);
}

TEST(DataThread, PollsItsPortsBetweenTheHistogramsThatAreRead) {
  constexpr size_t kTemplates = 40;
  const Clock clock;
  PolledQueue client;
  PolledQueue server;
  DataThread thread(clock, {}, this_cpu(), "data-0", false, false, {&client, &server});
  auto run = thread.core().prepare(many_templates(kTemplates), {});
  const std::vector<ProfileRun*> parts{run.get()};
  uint64_t before = 0;
  thread.run([&](DataCore& core, Nanoseconds now) {
    core.attach(run, now);
    thread.count_run(1);
    before = client.polls;
  });
  const std::vector<LatencyBlock> times = read_latencies(std::array{&thread}, parts);
  uint64_t polls = 0;
  thread.run([&](DataCore&, Nanoseconds) { polls = client.polls - before; });
  EXPECT_EQ(times.size(), kTemplates);
  EXPECT_GE(polls, kTemplates * kLatencyKinds);
}

}  // namespace
}  // namespace engine
