#include "rpc/statistics/run_statistics.h"

#include "rpc/statistics/descriptors.h"

namespace engine {

namespace {

constexpr Side kBothSides[] = {Side::client, Side::server};

CounterBlock difference(CounterBlock now, const CounterBlock& before) {
  for (size_t i = 0; i < kCounterCount; ++i) now.values[i] -= before.values[i];
  return now;
}

}  // namespace

void RunStatistics::begin(const std::array<CounterBlock, kSides>& table, double now) {
  table_before_ = table;
  traffic = {};
  settle();
  opened_.sample(0, now);
  for (SideGauges& gauges : gauges_) gauges.sample({}, now);
}

void RunStatistics::settle() {
  opened_ = {};
  gauges_ = {};
  group_gauges_ = {};
}

void RunStatistics::sample(const RunCounters& counters, double now) {
  opened_.sample(opened_flows(counters.sum(Side::client)), now);
  for (Side side : kBothSides) {
    const size_t s = index_of(side);
    gauges_[s].sample(counters.sum(side), now);
    group_gauges_[s].resize(counters.groups[s].size());
    for (size_t group = 0; group < counters.groups[s].size(); ++group)
      group_gauges_[s][group].sample(counters.groups[s][group], now);
  }
}

nlohmann::json RunStatistics::values(const RunCounters& counters, Side side, double now) const {
  const size_t s = index_of(side);
  CounterBlock all = counters.sum(side);
  const GaugeValues gauges = gauges_[s].values(all, traffic.duration(now));
  all += difference(counters.table[s], table_before_[s]);
  return counter_values(all, gauges);
}

nlohmann::json RunStatistics::group_values(const RunCounters& counters, Side side, size_t group,
                                           double now) const {
  const size_t s = index_of(side);
  const CounterBlock block =
      group < counters.groups[s].size() ? counters.groups[s][group] : CounterBlock{};
  const SideGauges gauges =
      group < group_gauges_[s].size() ? group_gauges_[s][group] : SideGauges{};
  return counter_values(block, gauges.values(block, traffic.duration(now)));
}

}  // namespace engine
