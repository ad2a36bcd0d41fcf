#include "rpc/machine_statistics.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "rpc/methods.h"

namespace engine {

namespace {

constexpr size_t kHistory = 20;
/// A loss below this share of what was sent is not shown (TRex).
constexpr double kShownLoss = 0.1;
/// Source ports of one client address: 1024 to 63999 without 4791.
constexpr double kPortsPerClient = 62'975;

}  // namespace

MachineStatistics::MachineStatistics(const Subjects& engine)
    : engine_(engine), ports_(engine.ports.infos().size()) {
  for (const CoreCycles& cycles : engine.cores.cycles()) cores_.emplace_back().before = cycles;
  sample();
}

void MachineStatistics::sample() {
  const double now = engine_.clock.now();
  for (uint32_t port = 0; port < ports_.size(); ++port) {
    const PortCounters counters = engine_.ports.counters(port);
    PortRates& rates = ports_[port];
    rates.bytes_out.sample(static_cast<double>(counters.obytes), now);
    rates.bytes_in.sample(static_cast<double>(counters.ibytes), now);
    rates.packets_out.sample(static_cast<double>(counters.opackets), now);
    rates.packets_in.sample(static_cast<double>(counters.ipackets), now);
  }
  const std::vector<CoreCycles> cycles = engine_.cores.cycles();
  for (size_t i = 0; i < cores_.size(); ++i) {
    CoreUse& core = cores_[i];
    const auto total = static_cast<double>(cycles[i].total - core.before.total);
    if (total <= 0) continue;
    core.percent_raw = 100 * static_cast<double>(cycles[i].busy - core.before.busy) / total;
    core.percent = (core.percent + core.percent_raw) / 2;
    core.before = cycles[i];
    core.history.push_front(static_cast<int>(std::lround(core.percent_raw)));
    if (core.history.size() > kHistory) core.history.pop_back();
  }
}

double MachineStatistics::mean_percent(double CoreUse::*percent) const {
  double sum = 0;
  for (const CoreUse& core : cores_) sum += core.*percent;
  return cores_.empty() ? 0 : sum / static_cast<double>(cores_.size());
}

double MachineStatistics::port_percent(uint32_t port) const {
  double sum = 0;
  size_t count = 0;
  for (const CoreUse& core : cores_) {
    if (core.before.pair != port / 2) continue;
    sum += core.percent;
    ++count;
  }
  return count == 0 ? 0 : sum / static_cast<double>(count);
}

Json MachineStatistics::global_stats(const ProfileTable& profiles) const {
  PortCounters sum;
  double bits_out = 0, bits_in = 0, packets_out = 0, packets_in = 0;
  for (uint32_t port = 0; port < ports_.size(); ++port) {
    sum += engine_.ports.counters(port);
    bits_out += 8 * ports_[port].bytes_out.value();
    bits_in += 8 * ports_[port].bytes_in.value();
    packets_out += ports_[port].packets_out.value();
    packets_in += ports_[port].packets_in.value();
  }
  const RunCounters total = profiles.total_counters();
  const CounterBlock client = total.sum(Side::client);
  const CounterBlock server = total.sum(Side::server);
  const auto no_buffer = [](const CounterBlock& c) {
    return c[Counter::tcps_nombuf] + c[Counter::udps_nombuf];
  };
  const double percent = mean_percent(&CoreUse::percent);
  const double lost = bits_out - bits_in;
  const Population population = profiles.any_running() ? engine_.runs.population() : Population{};
  const double client_ports = kPortsPerClient * static_cast<double>(population.clients);

  Json stats = {
      {"m_cpu_util", percent},
      {"m_cpu_util_raw", mean_percent(&CoreUse::percent_raw)},
      {"m_bw_per_core",
       percent > 0 ? 2 * bits_out / 1e9 * 100 / (percent * static_cast<double>(cores_.size())) : 0},
      {"m_rx_cpu_util", 0.0},
      {"m_rx_core_pps", 0.0},
      {"m_platform_factor", 1.0},
      {"m_tx_bps", bits_out},
      {"m_rx_bps", bits_in},
      {"m_tx_pps", packets_out},
      {"m_rx_pps", packets_in},
      {"m_tx_cps", profiles.total_statistics().opens_per_second()},
      {"m_rx_drop_bps", lost > kShownLoss * bits_out ? lost : 0.0},
      {"m_total_queue_full", sum.oerrors},
      {"m_total_queue_drop", sum.oerrors},
      {"m_total_alloc_error", no_buffer(client) + no_buffer(server)},
      {"m_active_flows", active_flows(client)},
      {"m_open_flows", opened_flows(client)},
      {"m_total_tx_pkts", sum.opackets},
      {"m_total_rx_pkts", sum.ipackets},
      {"m_total_tx_bytes", sum.obytes},
      {"m_total_rx_bytes", sum.ibytes},
      {"m_total_clients", population.clients},
      {"m_total_servers", population.servers},
      {"m_active_sockets", population.ports_in_use},
      {"m_socket_util",
       client_ports > 0 ? 100 * static_cast<double>(population.ports_in_use) / client_ports : 0},
  };
  for (const char* unused :
       {"m_tx_expected_cps", "m_tx_expected_pps", "m_tx_expected_bps", "m_total_nat_time_out",
        "m_total_nat_time_out_wait_ack", "m_total_nat_no_fid", "m_total_nat_active",
        "m_total_nat_syn_wait", "m_total_nat_open", "m_total_nat_learn_error"})
    stats[unused] = 0;
  return stats;
}

Json MachineStatistics::port_stats(uint32_t port) const {
  const PortCounters counters = engine_.ports.counters(port);
  const PortRates& rates = ports_[port];
  return {{"opackets", counters.opackets},
          {"obytes", counters.obytes},
          {"ipackets", counters.ipackets},
          {"ibytes", counters.ibytes},
          {"oerrors", counters.oerrors},
          {"ierrors", counters.ierrors},
          {"m_total_tx_bps", 8 * rates.bytes_out.value()},
          {"m_total_tx_pps", rates.packets_out.value()},
          {"m_total_rx_bps", 8 * rates.bytes_in.value()},
          {"m_total_rx_pps", rates.packets_in.value()},
          {"m_cpu_util", port_percent(port)}};
}

Json MachineStatistics::core_histories() const {
  Json histories = Json::array();
  for (const CoreUse& core : cores_)
    histories.push_back(
        {{"history", core.history}, {"ports", {2 * core.before.pair, 2 * core.before.pair + 1}}});
  return histories;
}

void DeviceWarnings::look() {
  for (uint32_t port = 0; port < told_.size(); ++port) {
    Told& told = told_[port];
    const uint64_t refused = ports_.device_losses(port).oerrors;
    if (refused >= std::max<uint64_t>(1, 2 * told.refused)) {
      told.refused = refused;
      fmt::print(stderr,
                 "astf-engine: port {}: {} frames that its device took were refused by the kernel, "
                 "so nobody received them: stackcost_get_drops, 'refused'\n",
                 port, refused);
    }
    if (!told.assumed_tags && ports_.counters(port).assumed_tags > 0) {
      told.assumed_tags = true;
      fmt::print(stderr,
                 "astf-engine: port {}: its device takes VLAN tags out of frames and does not tell "
                 "their type: all are taken for 802.1Q (0x8100), 802.1ad (0x88a8) too; a packet "
                 "socket (packet:INTERFACE) keeps the type\n",
                 port);
    }
  }
}

namespace {

using enum ParameterType;

/// TRex names pools by the size of their buffers: how many are free, and how many there are.
Json buffer_pools(const Cores& cores) {
  Json pools = Json::object();
  for (const auto& [bytes, counts] : cores.buffers())
    pools[std::to_string(bytes) + "b"] = {counts.first, counts.second};
  return {{"cpu-socket-0", std::move(pools)}};
}

// -- What the engine itself uses and drops; docs/rpc-extensions.md describes it.

Json cpu(const Cores& data_cores) {
  Json cores = Json::array();
  for (const CoreCycles& core : data_cores.cycles())
    cores.push_back({{"core", core.core},
                     {"cpu", core.cpu},
                     {"total_cycles", core.total},
                     {"busy_cycles", core.busy},
                     {"copying_cycles", core.copying},
                     {"sending_cycles", core.sending}});
  return {{"tsc_hz", data_cores.tsc_hz()}, {"cores", std::move(cores)}};
}

Json memory(const Cores& data_cores) {
  Json pools = Json::array();
  for (const PoolStatus& pool : data_cores.memory())
    pools.push_back({{"name", pool.name},
                     {"object_bytes", pool.object_bytes},
                     {"in_use", pool.in_use},
                     {"reserved_bytes", pool.reserved_bytes}});
  return {{"pools", std::move(pools)}};
}

Json drops(const Ports& ports) {
  Json cores = Json::array();
  for (const PortDrops& port : ports.drops()) {
    Json reasons = Json::object();
    for (size_t reason = 0; reason < kDropReasons; ++reason)
      reasons[kDropNames[reason]] = port.drops.values[reason];
    const PathMtuCounts& path = port.path_mtu;
    cores.push_back({{"port", port.port},
                     {"core", port.core},
                     {"reasons", std::move(reasons)},
                     {"path_mtu",
                      {{"accepted", path.accepted},
                       {"least", path.accepted != 0 ? Json(path.least) : Json(nullptr)}}}});
  }
  Json devices = Json::array();
  for (uint32_t port = 0; port < ports.infos().size(); ++port) {
    const PortCounters losses = ports.device_losses(port);
    devices.push_back({{"port", port}, {"lost", losses.ierrors}, {"refused", losses.oerrors}});
  }
  return {{"cores", std::move(cores)}, {"devices", std::move(devices)}};
}

}  // namespace

void add_machine_methods(MethodTable& methods, ControlState& state) {
  methods.add("get_global_stats", Access::reader, {},
              [&state](const Json&) { return state.machine.global_stats(state.profiles); });
  methods.add("get_utilization", Access::reader, {}, [&state](const Json&) {
    return Json{{"cpu", state.machine.core_histories()},
                {"mbuf_stats", buffer_pools(state.engine.cores)}};
  });

  // The engine itself.
  methods.add("stackcost_get_cpu", Access::reader, {},
              [&state](const Json&) { return cpu(state.engine.cores); });
  methods.add("stackcost_get_memory", Access::reader, {},
              [&state](const Json&) { return memory(state.engine.cores); });
  methods.add("stackcost_get_drops", Access::reader, {},
              [&state](const Json&) { return drops(state.engine.ports); });
}

}  // namespace engine
