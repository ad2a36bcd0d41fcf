// Whether received payload is what the profile says; docs/rpc-extensions.md describes it.

#include "rpc/methods.h"

namespace engine {

namespace {

using enum ParameterType;

Json counts(const PayloadCounts& counts) {
  return {{"compared_bytes", counts.compared_bytes},
          {"mismatched_bytes", counts.mismatched_bytes},
          {"unknown_bytes", counts.unknown_bytes},
          {"mismatched_flows", counts.mismatched_flows}};
}

Json payload_check(ControlState& state, const std::string& id) {
  Json templates = Json::array();
  for (const PayloadBlock& block : state.profiles.payload(id))
    templates.push_back({{"template", templates.size()},
                         {"client", counts(block.sides[index_of(Side::client)])},
                         {"server", counts(block.sides[index_of(Side::server)])}});
  return {{"templates", std::move(templates)}};
}

}  // namespace

void add_payload_methods(MethodTable& methods, ControlState& state) {
  methods.add("stackcost_set_payload_check", Access::owner,
              {{"profile_id", string}, {"enabled", boolean}, optional("skip_bytes", integer)},
              [&state](const Json& params) {
                PayloadCheckOptions check{.enabled = params.at("enabled")};
                check.skip_bytes =
                    integer_or(check.skip_bytes, params, "skip_bytes", 0, UINT32_MAX);
                state.profiles.set_payload_check(params.at("profile_id"), check);
                return Json::object();
              });
  methods.add(
      "stackcost_get_payload_check", Access::reader, {{"profile_id", string}},
      [&state](const Json& params) { return payload_check(state, params.at("profile_id")); });
}

}  // namespace engine
