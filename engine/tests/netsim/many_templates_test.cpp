// A profile of many templates: no pass of a core's loop takes longer for it.

#include <gtest/gtest.h>
#include <malloc.h>

#include <ctime>

#include "json/parse_profile.h"
#include "netsim/netsim.h"
#include "netsim/several_templates.h"

namespace engine::netsim {
namespace {

constexpr uint32_t kTemplates = 4'000;

/// CPU time of this thread, so that others on the machine do not count.
Nanoseconds cpu_time() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return time.tv_sec * kSecond + time.tv_nsec;
}

/// As many templates, each on a port of its own.
std::string many() {
  const auto client = program(R"({"name":"tx","buf_index":0},{"name":"rx","min_bytes":4})");
  const auto server = program(R"({"name":"rx","min_bytes":4},{"name":"tx","buf_index":0})");
  std::vector<nlohmann::json> templates;
  for (uint32_t i = 0; i < kTemplates; ++i)
    templates.push_back(flow_template(0, 1, 0.0001, 0, {{"port", 1 + i}}));
  return several({client, server}, templates, {});
}

/// CPU time of a pass, the mean of many that have nothing to do.
Nanoseconds of_idle_pass(Network& network) {
  constexpr int kPasses = 2000;
  const Nanoseconds before = cpu_time();
  for (int i = 0; i < kPasses; ++i) network.core(Side::client).advance(network.now());
  return (cpu_time() - before) / kPasses;
}

/// Bytes that the program holds on its heap.
uint64_t held() {
  const struct mallinfo2 info = mallinfo2();
  return info.uordblks + info.hblkhd;
}

/// What a run on one core is said to take is what it takes.
TEST(ManyTemplates, TheMemoryOfARunIsKnownBeforeItsStart) {
  const std::shared_ptr<const Profile> profile = parse_profile(many(), false);
  for (const bool checks : {false, true}) {
    RunOptions options = forever();
    options.payload_check.enabled = checks;
    const uint64_t told = ProfileRun::memory_of(*profile, options);
    const uint64_t before = held();
    const ProfileRun run(profile, options, {}, {});
    const uint64_t taken = held() - before;
    if (taken == 0) GTEST_SKIP() << "this allocator does not tell what it gave";
    EXPECT_LE(taken, told);
    EXPECT_GE(taken, told - told / 20);
    EXPECT_GE(told, kTemplates * sizeof(LatencyBlock));
  }
}

TEST(ManyTemplates, NeitherHeldFlowsNorTheEndOfARunTakeLongForThem) {
  Network network({}, many(), forever());
  network.run(Side::client).hold(10, 0, network.now());
  network.run_until(200 * kMillisecond);
  EXPECT_GE(network.status(Side::client).client_flows, 10u);
  EXPECT_LT(of_idle_pass(network), 3 * kMicrosecond);
  const Nanoseconds before = cpu_time();
  network.close(Side::server);
  EXPECT_LT(cpu_time() - before, kTemplates * 2 * kMicrosecond);
}

}  // namespace
}  // namespace engine::netsim
