#include "rpc/topology.h"

#include <fmt/format.h>

#include <map>

#include "net/address_text.h"
#include "net/ethernet.h"
#include "rpc/method_table.h"
#include "rpc/methods.h"
#include "rpc/rpc_error.h"

namespace engine {

namespace {

using enum ParameterType;

struct Interface {
  MacAddress mac;
  VlanTags tags;
};
/// By port and number.
using Interfaces = std::map<std::pair<uint64_t, uint64_t>, Interface>;

Interfaces read_interfaces(const Json& vifs, size_t ports) {
  Interfaces interfaces;
  for (const Json& vif : vifs) {
    check_parameters(vif, {{"trex_port", integer}, {"sub_if", integer}, {"src_mac", string}});
    const uint64_t port = integer_in(vif, "trex_port", 0, ports - 1);
    interfaces[{port, integer_in(vif, "sub_if", 1, UINT32_MAX)}] = {mac_of(vif, "src_mac"),
                                                                    vlan_tags_of(vif, "vlan")};
  }
  return interfaces;
}

ClientGroup read_group(const Json& gw, const Interfaces& interfaces, size_t ports) {
  check_parameters(gw, {{"trex_port", integer},
                        {"sub_if", integer},
                        {"src_start", string},
                        {"src_end", string},
                        {"dst_mac", string}});
  ClientGroup group;
  group.port = static_cast<uint32_t>(integer_in(gw, "trex_port", 0, ports - 1));
  if (group.port % 2 != 0)
    throw refused(
        fmt::format("Topology: port {} has servers, gateways are of clients", group.port));
  group.first = ipv4_of(gw, "src_start");
  group.last = ipv4_of(gw, "src_end");
  if (group.first > group.last)
    throw refused(fmt::format("Topology: range {}-{} ends before it starts", ipv4_text(group.first),
                              ipv4_text(group.last)));
  group.destination = mac_of(gw, "dst_mac");
  const uint64_t number = integer_in(gw, "sub_if", 0, UINT32_MAX);
  if (number == 0) return group;
  const auto found = interfaces.find({group.port, number});
  if (found == interfaces.end())
    throw refused(fmt::format("Topology: there is no interface {}.{}", group.port, number));
  group.source = found->second.mac;
  group.tags = found->second.tags;
  return group;
}

Topology read_topology(const Json& json, size_t ports) {
  const Interfaces interfaces = read_interfaces(json.at("vifs"), ports);
  std::vector<ClientGroup> groups;
  for (const Json& gw : json.at("gws")) groups.push_back(read_group(gw, interfaces, ports));
  Topology topology(std::move(groups));
  const auto& sorted = topology.groups();
  for (size_t i = 1; i < sorted.size(); ++i)
    if (sorted[i].port == sorted[i - 1].port && sorted[i].first <= sorted[i - 1].last)
      throw refused(fmt::format("Topology: two gateways for client {} of port {}",
                                ipv4_text(sorted[i].first), sorted[i].port));
  return topology;
}

Json read_json(const std::string& text, const ByteBudget& budget, uint64_t& bytes) {
  try {
    if (Json json = parse_json(text, budget.left(), &bytes); json.is_object()) return json;
  } catch (const JsonTooLarge&) {
    throw refused(budget.refusal(budget.left() + 1, "the topology at least"));
  } catch (const JsonError& error) {
    throw refused(fmt::format("Topology is not a JSON object: {}", error.what()));
  }
  throw refused("Topology is not a JSON object");
}

}  // namespace

void TopologyUpload::add(const std::string& fragment, bool first, bool last, size_t ports) {
  if (first) fragments_.begin();
  fragments_.add(fragment);
  if (!last) return;
  uint64_t bytes = 0;
  Json json = read_json(fragments_.take(), kept_.budget(), bytes);
  check_parameters(json, {{"vifs", array}, {"gws", array}});
  auto topology = std::make_shared<const Topology>(read_topology(json, ports));
  bytes += topology->groups().size() * sizeof(ClientGroup);
  if (!kept_.set(bytes)) throw refused(kept_.budget().refusal(bytes, "the topology"));
  // The clients that ask know one tag.
  for (Json& vif : json["vifs"]) {
    vif.erase("tpids");
    if (const auto vlan = vif.find("vlan"); vlan != vif.end() && vlan->is_array())
      *vlan = vlan->empty() ? Json(0) : (*vlan)[0];
  }
  json_ = {{"vifs", std::move(json["vifs"])}, {"gws", std::move(json["gws"])}};
  topology_ = topology->groups().empty() ? nullptr : std::move(topology);
}

void TopologyUpload::clear() {
  *this = TopologyUpload(kept_.budget());
}

void add_topology_methods(MethodTable& methods, ControlState& state) {
  methods.add("topo_get", Access::reader, {}, [&state](const Json&) {
    return Json{{"topo_data", state.topology.json()}};
  });
  methods.add("topo_clear", Access::owner, {}, [&state](const Json&) {
    state.topology.clear();
    return Json::object();
  });
  methods.add(
      "topo_fragment", Access::owner,
      {{"fragment", string}, optional("frag_first", boolean), optional("frag_last", boolean)},
      [&state](const Json& params) {
        state.topology.add(params.at("fragment"), params.value("frag_first", false),
                           params.value("frag_last", false), state.engine.ports.infos().size());
        return Json::object();
      });
}

}  // namespace engine
