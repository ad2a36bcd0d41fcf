#include "rpc/topology.h"

#include <fmt/format.h>

#include <map>

#include "net/address_text.h"
#include "rpc/mac_text.h"
#include "rpc/parameters.h"
#include "rpc/rpc_error.h"

namespace engine {

namespace {

using enum ParameterType;

constexpr size_t kMaxBytes = 64u << 20;
constexpr uint64_t kMaxVlan = 4095;

struct Interface {
  MacAddress mac;
  uint16_t vlan;
};
/// By port and number.
using Interfaces = std::map<std::pair<uint64_t, uint64_t>, Interface>;

MacAddress mac_in(const Json& entry, const char* name) {
  const std::string text = entry.at(name);
  if (const auto mac = parse_mac(text)) return *mac;
  throw refused(fmt::format("Topology: '{}' must be a MAC address, not '{}'", name, text));
}

uint32_t ipv4_in(const Json& entry, const char* name) {
  const std::string text = entry.at(name);
  if (const auto address = parse_ipv4(text)) return *address;
  throw refused(fmt::format("Topology: '{}' must be an IPv4 address, not '{}'", name, text));
}

Interfaces read_interfaces(const Json& vifs, size_t ports) {
  Interfaces interfaces;
  for (const Json& vif : vifs) {
    check_parameters(vif, {{"trex_port", integer}, {"sub_if", integer}, {"src_mac", string}});
    const uint64_t port = integer_in(vif, "trex_port", 0, ports - 1);
    const bool tagged = vif.contains("vlan") && !vif["vlan"].is_null();
    const uint64_t vlan = tagged ? integer_in(vif, "vlan", 0, kMaxVlan) : 0;
    interfaces[{port, integer_in(vif, "sub_if", 1, UINT32_MAX)}] = {mac_in(vif, "src_mac"),
                                                                    static_cast<uint16_t>(vlan)};
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
  group.first = ipv4_in(gw, "src_start");
  group.last = ipv4_in(gw, "src_end");
  if (group.first > group.last)
    throw refused(fmt::format("Topology: range {}-{} ends before it starts", ipv4_text(group.first),
                              ipv4_text(group.last)));
  group.destination = mac_in(gw, "dst_mac");
  const uint64_t number = integer_in(gw, "sub_if", 0, UINT32_MAX);
  if (number == 0) return group;
  const auto found = interfaces.find({group.port, number});
  if (found == interfaces.end())
    throw refused(fmt::format("Topology: there is no interface {}.{}", group.port, number));
  group.source = found->second.mac;
  group.vlan = found->second.vlan;
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

}  // namespace

void TopologyUpload::add(const std::string& fragment, bool first, bool last, size_t ports) {
  if (first) {
    pieces_.clear();
    uploading_ = true;
  }
  if (!uploading_) throw refused("No upload in progress: the first piece needs 'frag_first'");
  if (pieces_.size() + fragment.size() > kMaxBytes) {
    drop_pieces();
    throw refused(fmt::format("Topology is too large: at most {} bytes", kMaxBytes));
  }
  pieces_ += fragment;
  if (!last) return;
  const Json json = Json::parse(pieces_, nullptr, false);
  drop_pieces();
  if (!json.is_object()) throw refused("Topology is not a JSON object");
  check_parameters(json, {{"vifs", array}, {"gws", array}});
  auto topology = std::make_shared<const Topology>(read_topology(json, ports));
  json_ = {{"vifs", json["vifs"]}, {"gws", json["gws"]}};
  topology_ = topology->groups().empty() ? nullptr : std::move(topology);
}

void TopologyUpload::drop_pieces() {
  pieces_ = {};
  uploading_ = false;
}

void TopologyUpload::clear() {
  *this = {};
}

}  // namespace engine
