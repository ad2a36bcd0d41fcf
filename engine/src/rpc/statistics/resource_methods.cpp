// What the engine itself uses and drops; docs/rpc-extensions.md describes it.

#include "rpc/methods.h"

namespace engine {

namespace {

using enum ParameterType;

Json cpu(const Engine& engine) {
  Json cores = Json::array();
  for (const CoreCycles& core : engine.cycles())
    cores.push_back({{"core", core.core},
                     {"cpu", core.cpu},
                     {"total_cycles", core.total},
                     {"busy_cycles", core.busy},
                     {"sending_cycles", core.sending}});
  return {{"tsc_hz", engine.tsc_hz()}, {"cores", std::move(cores)}};
}

Json memory(const Engine& engine) {
  Json pools = Json::array();
  for (const PoolStatus& pool : engine.memory())
    pools.push_back({{"name", pool.name},
                     {"object_bytes", pool.object_bytes},
                     {"in_use", pool.in_use},
                     {"reserved_bytes", pool.reserved_bytes}});
  return {{"pools", std::move(pools)}};
}

Json drops(const Engine& engine) {
  Json cores = Json::array();
  for (const PortDrops& port : engine.drops()) {
    Json reasons = Json::object();
    for (size_t reason = 0; reason < kDropReasons; ++reason)
      reasons[kDropNames[reason]] = port.drops.values[reason];
    cores.push_back({{"port", port.port}, {"core", port.core}, {"reasons", std::move(reasons)}});
  }
  Json devices = Json::array();
  for (uint32_t port = 0; port < engine.ports().size(); ++port)
    devices.push_back({{"port", port}, {"lost", engine.device_losses(port)}});
  return {{"cores", std::move(cores)}, {"devices", std::move(devices)}};
}

}  // namespace

void add_resource_methods(MethodTable& methods, ControlState& state) {
  methods.add("stackcost_get_cpu", Access::reader, {},
              [&state](const Json&) { return cpu(state.engine); });
  methods.add("stackcost_get_memory", Access::reader, {},
              [&state](const Json&) { return memory(state.engine); });
  methods.add("stackcost_get_drops", Access::reader, {},
              [&state](const Json&) { return drops(state.engine); });
}

}  // namespace engine
