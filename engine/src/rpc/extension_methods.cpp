// What this engine tells beyond TRex. docs/rpc-extensions.md describes each.

#include "rpc/control.h"
#include "rpc/rpc_error.h"

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

Json schedule(const RunStatus& run) {
  return {{"intended", run.intended},
          {"opened", run.opened},
          {"late", run.late},
          {"unsent", run.unsent}};
}

Json notices(const ProfileSlot& slot) {
  return {{"notices", slot.profile ? slot.profile->notices : std::vector<std::string>{}}};
}

constexpr double kMaxRampSeconds = 86'400;

Json held_flows(const RunStatus& run) {
  return {{"wanted", run.held_wanted},
          {"open", run.client_flows},
          {"opened", run.held_opened},
          {"refused", run.held_refused}};
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

void add_extension_methods(MethodTable& methods, ControlState& state) {
  methods.add("stackcost_get_cpu", Access::reader, {},
              [&state](const Json&) { return cpu(state.engine); });
  methods.add("stackcost_get_memory", Access::reader, {},
              [&state](const Json&) { return memory(state.engine); });
  methods.add("stackcost_get_notices", Access::reader, {{"profile_id", string}},
              [&state](const Json& params) {
                return notices(state.profiles.find(params.at("profile_id")));
              });
  methods.add("stackcost_get_drops", Access::reader, {},
              [&state](const Json&) { return drops(state.engine); });
  methods.add("stackcost_get_schedule", Access::reader, {{"profile_id", string}},
              [&state](const Json& params) {
                return schedule(state.profiles.run_status(params.at("profile_id")));
              });
  methods.add("stackcost_hold_flows", Access::owner,
              {{"profile_id", string}, {"flows", integer}, optional("ramp_s", number)},
              [&state](const Json& params) {
                const double ramp_s = params.value("ramp_s", 0.0);
                if (ramp_s < 0 || ramp_s > kMaxRampSeconds)
                  throw bad_parameters("parameter 'ramp_s' must be from 0 to 86400 seconds");
                state.profiles.hold(params.at("profile_id"),
                                    integer_in(params, "flows", 0, UINT32_MAX), ramp_s);
                return Json::object();
              });
  methods.add("stackcost_get_held_flows", Access::reader, {{"profile_id", string}},
              [&state](const Json& params) {
                return held_flows(state.profiles.run_status(params.at("profile_id")));
              });
}

}  // namespace engine
