// Runs of profiles beyond what TRex tells; docs/rpc-extensions.md describes it.

#include "rpc/methods.h"

namespace engine {

namespace {

using enum ParameterType;

constexpr double kMaxRampSeconds = 86'400;

Json schedule(const RunStatus& run) {
  return {{"intended", run.intended},
          {"opened", run.opened},
          {"late", run.late},
          {"unsent", run.unsent}};
}

Json notices(const ProfileSlot& slot) {
  return {{"notices", slot.profile ? slot.profile->notices : std::vector<std::string>{}}};
}

Json held_flows(const RunStatus& run) {
  return {{"wanted", run.held_wanted},
          {"open", run.client_flows},
          {"opened", run.held_opened},
          {"refused", run.held_refused}};
}

}  // namespace

void add_run_methods(MethodTable& methods, ControlState& state) {
  methods.add("stackcost_get_notices", Access::reader, {{"profile_id", string}},
              [&state](const Json& params) {
                return notices(state.profiles.find(params.at("profile_id")));
              });
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
