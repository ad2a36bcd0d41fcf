#include "rpc/run_statistics.h"

#include <gtest/gtest.h>

namespace engine {
namespace {

// Ids of TRex.
constexpr const char* kTxRate = "2";
constexpr const char* kDuration = "10";
constexpr const char* kConnattempt = "14";
constexpr const char* kErrCwf = "121";

RunCounters counters_with(uint64_t ungrouped, uint64_t grouped, uint64_t stray) {
  RunCounters counters;
  for (auto& groups : counters.groups) groups.resize(2);
  counters.groups[0][0][Counter::tcps_connattempt] = ungrouped;
  counters.groups[0][1][Counter::tcps_connattempt] = grouped;
  counters.groups[0][1][Counter::tcps_rcvackbyte] = 1000 * grouped;
  counters.table[0][Counter::err_cwf] = stray;
  return counters;
}

TEST(RunStatistics, SumsGroupsAndShowsWhatTheFlowTableCountedSinceTheStart) {
  RunStatistics statistics;
  const RunCounters before = counters_with(0, 0, 7);
  statistics.begin(before.table, 0);
  const RunCounters now = counters_with(2, 3, 9);
  EXPECT_EQ(statistics.values(now, Side::client, 1)[kConnattempt], 5);
  EXPECT_EQ(statistics.values(now, Side::client, 1)[kErrCwf], 2);
  EXPECT_EQ(statistics.group_values(now, Side::client, 1, 1)[kConnattempt], 3);
  EXPECT_FALSE(statistics.group_values(now, Side::client, 1, 1).contains(kErrCwf));
  EXPECT_FALSE(statistics.values(now, Side::server, 1).contains(kConnattempt));
}

TEST(RunStatistics, RatesOfGroupsAndOfAllEndWithTheRun) {
  RunStatistics statistics;
  statistics.begin({}, 0);
  statistics.sample(counters_with(0, 0, 0), 0.5);
  const RunCounters later = counters_with(0, 100, 0);
  statistics.sample(later, 1.5);
  EXPECT_EQ(statistics.group_values(later, Side::client, 1, 2)[kTxRate], 800'000);
  EXPECT_GT(statistics.values(later, Side::client, 2)[kTxRate], 0);
  EXPECT_GT(statistics.opens_per_second(), 0);
  statistics.settle();
  EXPECT_EQ(statistics.group_values(later, Side::client, 1, 2)[kTxRate], 0);
  EXPECT_EQ(statistics.values(later, Side::client, 2)[kTxRate], 0);
  EXPECT_EQ(statistics.opens_per_second(), 0);
}

TEST(RunStatistics, DurationRunsFromTheFirstFlowToTheLast) {
  RunStatistics statistics;
  statistics.begin({}, 10);
  const RunCounters none = counters_with(0, 0, 0);
  EXPECT_FALSE(statistics.values(none, Side::client, 12).contains(kDuration));
  statistics.traffic.first = 11;
  EXPECT_EQ(statistics.values(none, Side::client, 13)[kDuration], 2);
  statistics.traffic.last = 12;
  EXPECT_EQ(statistics.values(none, Side::client, 99)[kDuration], 1);
}

}  // namespace
}  // namespace engine
