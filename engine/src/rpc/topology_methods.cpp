// Topology, ignored addresses, tunnels: what clients ask about and the engine has none of.

#include "rpc/control.h"
#include "rpc/rpc_error.h"

namespace engine {

namespace {

using enum ParameterType;

constexpr size_t kMaxIgnored = 1'000;
constexpr uint64_t kMaxMac = 0xffff'ffff'ffff;

/// A list of objects with one integer each, as clients send and read it.
Json checked_list(const Json& params, const char* list, const char* key, uint64_t highest) {
  const Json& entries = params.at(list);
  if (entries.size() > kMaxIgnored)
    throw bad_parameters(std::string("parameter '") + list + "' has more than " +
                         std::to_string(kMaxIgnored) + " entries");
  for (const Json& entry : entries) {
    check_parameters(entry, {{key, integer}});
    integer_in(entry, key, 0, highest);
  }
  return entries;
}

}  // namespace

void add_topology_methods(MethodTable& methods, ControlState& state) {
  methods.add("topo_get", Access::reader, {}, [](const Json&) {
    return Json{{"topo_data", {{"vifs", Json::array()}, {"gws", Json::array()}}}};
  });
  methods.add("topo_clear", Access::owner, {}, [](const Json&) { return Json::object(); });
  methods.add("topo_fragment", Access::owner, {}, [](const Json&) -> Json {
    throw refused("Topologies are not supported by this engine yet");
  });

  methods.add("get_ignored_ips", Access::reader, {},
              [&state](const Json&) { return state.ignored_addresses; });
  methods.add("set_ignored_ips", Access::reader, {{"ip_list", array}},
              [&state](const Json& params) {
                state.ignored_addresses = checked_list(params, "ip_list", "ip", UINT32_MAX);
                return Json::object();
              });
  methods.add("get_ignored_macs", Access::reader, {},
              [&state](const Json&) { return state.ignored_macs; });
  methods.add("set_ignored_macs", Access::reader, {{"mac_list", array}},
              [&state](const Json& params) {
                state.ignored_macs = checked_list(params, "mac_list", "mac_addr", kMaxMac);
                return Json::object();
              });

  methods.add("is_tunnel_supported", Access::reader, {}, [](const Json&) {
    return Json{{"is_tunnel_supported", false},
                {"error_msg", "Tunnels are not supported by this engine"}};
  });
}

}  // namespace engine
