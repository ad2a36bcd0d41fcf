// What the engine itself uses and drops; docs/rpc-extensions.md describes it.

#include "rpc/methods.h"

namespace engine {

namespace {

using enum ParameterType;

Json cpu(const Cores& data_cores) {
  Json cores = Json::array();
  for (const CoreCycles& core : data_cores.cycles())
    cores.push_back({{"core", core.core},
                     {"cpu", core.cpu},
                     {"total_cycles", core.total},
                     {"busy_cycles", core.busy},
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
    cores.push_back({{"port", port.port}, {"core", port.core}, {"reasons", std::move(reasons)}});
  }
  Json devices = Json::array();
  for (uint32_t port = 0; port < ports.infos().size(); ++port)
    devices.push_back({{"port", port}, {"lost", ports.device_losses(port)}});
  return {{"cores", std::move(cores)}, {"devices", std::move(devices)}};
}

}  // namespace

void add_resource_methods(MethodTable& methods, ControlState& state) {
  methods.add("stackcost_get_cpu", Access::reader, {},
              [&state](const Json&) { return cpu(state.engine.cores); });
  methods.add("stackcost_get_memory", Access::reader, {},
              [&state](const Json&) { return memory(state.engine.cores); });
  methods.add("stackcost_get_drops", Access::reader, {},
              [&state](const Json&) { return drops(state.engine.ports); });
}

}  // namespace engine
