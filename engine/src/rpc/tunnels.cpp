#include "rpc/tunnels.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "net/address_text.h"
#include "net/icmpv6.h"
#include "rpc/method_table.h"
#include "rpc/methods.h"
#include "rpc/rpc_error.h"

namespace engine {
namespace {

using enum ParameterType;

constexpr uint64_t kGtpu = 1;  ///< TRex's number of this kind of tunnel

constexpr const char* kNotActive = "The tunnel mode needs to be activated";
constexpr const char* kNoTopology =
    "Tunnel mode has to be activated in order to use Tunnel Topology";

void require_idle(bool idle) {
  if (!idle) throw refused("The server state should be IDLE: stop the profiles that run first");
}

void require_gtpu(uint64_t type) {
  if (type != kGtpu)
    throw refused(fmt::format("tunnel type is not supported: {}; 1 is GTP-U", type));
}

/// An end of a tunnel's outer header, of `version` 4 or 6.
IpAddress end_of(const Json& json, const std::string& name, uint64_t version) {
  if (version == 4) return IpAddress::v4(ipv4_of(json, name));
  const std::string text = json.at(name);
  if (const auto address = parse_ipv6(text); address && !is_multicast(*address)) return *address;
  throw bad_parameters(
      fmt::format("parameter '{}' must be a unicast IPv6 address, not '{}'", name, text));
}

Tunnel tunnel_of(const Json& json, const std::string& source, const std::string& destination,
                 const std::string& teid) {
  check_parameters(json, {{"version", integer},
                          {source, string},
                          {destination, string},
                          {teid, integer},
                          {"sport", integer}});
  const uint64_t version = integer_in(json, "version", 4, 6);
  if (version == 5) throw bad_parameters("parameter 'version' must be 4 or 6, not 5");
  return {end_of(json, source, version), end_of(json, destination, version),
          static_cast<uint32_t>(integer_in(json, teid, 0, UINT32_MAX)),
          static_cast<uint16_t>(integer_in(json, "sport", 0, UINT16_MAX))};
}

TunnelRange range_of(const Json& json) {
  check_parameters(json, {{"src_start", string},
                          {"src_end", string},
                          {"teid_jump", integer},
                          {"tunnel_type", integer},
                          {"activate", boolean}});
  require_gtpu(integer_in(json, "tunnel_type", 0, UINT8_MAX));
  if (!json.at("activate").get<bool>())
    throw refused(
        "Tunnel Topology: 'activate' is false; leave it true, and disable clients by "
        "set_client_enable");
  TunnelRange range{
      .first = ipv4_of(json, "src_start"),
      .last = ipv4_of(json, "src_end"),
      .tunnel = tunnel_of(json, "src_ip", "dst_ip", "initial_teid"),
      .teid_step = static_cast<uint32_t>(integer_in(json, "teid_jump", 0, UINT32_MAX))};
  if (range.first > range.last)
    throw refused(fmt::format("Tunnel Topology: range {}-{} ends before it starts",
                              ipv4_text(range.first), ipv4_text(range.last)));
  return range;
}

std::vector<TunnelRange> ranges_of(const Json& tunnels) {
  std::vector<TunnelRange> ranges;
  for (const Json& tunnel : tunnels) ranges.push_back(range_of(tunnel));
  std::ranges::sort(ranges, {}, &TunnelRange::first);
  for (size_t i = 1; i < ranges.size(); ++i)
    if (ranges[i].first <= ranges[i - 1].last)
      throw refused(
          fmt::format("Tunnel Topology: two tunnels for client {}", ipv4_text(ranges[i].first)));
  return ranges;
}

/// One entry for each pair of ports; the pairs' addresses are evenly apart, as profiles have them.
std::optional<LatencyControl::Addresses> latency_of(const Json& latency, size_t pairs) {
  if (latency.empty()) return std::nullopt;
  std::vector<std::optional<std::pair<uint32_t, uint32_t>>> ends(pairs);
  for (const Json& one : latency) {
    check_parameters(one,
                     {{"client_port_id", integer}, {"client_ip", string}, {"server_ip", string}});
    const uint64_t port = integer_in(one, "client_port_id", 0, 2 * pairs - 1);
    if (port % 2 != 0)
      throw refused(fmt::format("Tunnel Topology: client_port_id {} is odd: it has servers", port));
    ends[port / 2] = {ipv4_of(one, "client_ip"), ipv4_of(one, "server_ip")};
  }
  if (latency.size() != pairs ||
      !std::ranges::all_of(ends, [](const auto& pair) { return pair.has_value(); }))
    throw refused(
        fmt::format("Tunnel Topology: latency has {} entries, and there are {} pairs of "
                    "ports, each of which needs one",
                    latency.size(), pairs));
  LatencyControl::Addresses addresses{ends[0]->first, ends[0]->second, 0, 0};
  if (pairs > 1) {
    addresses.client_pair_offset = ends[1]->first - ends[0]->first;
    addresses.server_pair_offset = ends[1]->second - ends[0]->second;
  }
  for (uint32_t pair = 0; pair < pairs; ++pair)
    if (ends[pair] != std::pair{addresses.client + pair * addresses.client_pair_offset,
                                addresses.server + pair * addresses.server_pair_offset})
      throw refused("Tunnel Topology: latency addresses of pairs of ports are not evenly apart");
  return addresses;
}

}  // namespace

void TunnelControl::require_active(const char* otherwise) const {
  if (!active_) throw refused(otherwise);
}

void TunnelControl::activate(uint64_t type, bool loopback, bool idle) {
  require_idle(idle);
  if (active_) throw refused("The tunnel mode have been already activated");
  require_gtpu(type);
  if (const std::string why = ports_.no_tunnels(loopback); !why.empty())
    throw refused("Tunnel is not supported: " + why);
  ports_.set_tunnels(true, loopback);
  active_ = true;
  apply();
}

void TunnelControl::deactivate(bool idle) {
  require_idle(idle);
  require_active("The tunnel mode is already off");
  clients_.clear();
  clear(idle);
  active_ = false;
  ports_.set_tunnels(false, false);
}

void TunnelControl::update(uint64_t type, const Json& records) {
  require_active(kNotActive);
  require_gtpu(type);
  std::unordered_map<uint32_t, Tunnel> clients = clients_;
  for (const Json& record : records) {
    check_parameters(record, {{"client_ip", integer}});
    const auto client = static_cast<uint32_t>(integer_in(record, "client_ip", 0, UINT32_MAX));
    clients.insert_or_assign(client, tunnel_of(record, "sip", "dip", "teid"));
  }
  if (clients.size() > kMostClients)
    throw refused(
        fmt::format("{} clients would have tunnels of their own, and {} may have: give "
                    "ranges of them tunnels by a tunnel topology",
                    clients.size(), kMostClients));
  clients_ = std::move(clients);
  apply();
}

void TunnelControl::add(const std::string& fragment, bool first, bool last, bool idle) {
  require_active(kNoTopology);
  require_idle(idle);
  if (first) fragments_.begin();
  fragments_.add(fragment);
  if (!last) return;
  std::string text = fragments_.take();
  Json json;
  uint64_t bytes = 0;
  try {
    json = parse_json(text, kept_.budget().left(), &bytes);
  } catch (const JsonTooLarge&) {
    throw refused(
        kept_.budget().refusal(kept_.budget().left() + 1, "the tunnel topology at least"));
  } catch (const JsonError& error) {
    throw refused(fmt::format("Tunnel topology is not a JSON object: {}", error.what()));
  }
  if (!json.is_object()) throw refused("Tunnel topology is not a JSON object");
  check_parameters(json, {{"tunnels", array}, {"latency", array}});
  std::vector<TunnelRange> ranges = ranges_of(json["tunnels"]);
  auto latency = latency_of(json["latency"], ports_.infos().size() / 2);
  const uint64_t kept = text.size() + 2 * ranges.size() * sizeof(TunnelRange);
  if (!kept_.set(kept)) throw refused(kept_.budget().refusal(kept, "the tunnel topology"));
  topology_ = std::move(text);
  ranges_ = std::move(ranges);
  latency_ = latency;
  apply();
}

void TunnelControl::clear(bool idle) {
  require_active(kNoTopology);
  require_idle(idle);
  fragments_.drop();
  topology_.clear();
  ranges_.clear();
  latency_.reset();
  kept_.set(0);
  apply();
}

const std::string& TunnelControl::topology() const {
  static const std::string kNone = R"({"tunnels": [], "latency": []})";
  require_active(kNoTopology);
  return topology_.empty() ? kNone : topology_;
}

void TunnelControl::apply() {
  const auto fresh = std::make_shared<const Tunnels>(ranges_, clients_);
  ports_.update_tunnels(fresh);
  applied_ = fresh;
}

void add_tunnel_methods(MethodTable& methods, ControlState& state) {
  const auto idle = [&state] { return state.profiles.state() <= ProfileState::loaded; };
  TunnelControl& tunnels = state.tunnels;
  methods.add("is_tunnel_supported", Access::reader, {{"tunnel_type", integer}},
              [&state](const Json& params) {
                std::string why = state.engine.ports.no_tunnels(false);
                if (why.empty() && params.at("tunnel_type") != kGtpu)
                  why = "this type of tunnel is unknown; 1 is GTP-U";
                if (why.empty()) return Json{{"is_tunnel_supported", true}};
                return Json{{"is_tunnel_supported", false},
                            {"error_msg", "Tunnel is not supported: " + why}};
              });
  methods.add(
      "activate_tunnel_mode", Access::reader,
      {{"activate", boolean}, optional("tunnel_type", integer), optional("loopback", boolean)},
      [&tunnels, idle](const Json& params) {
        if (params.at("activate").get<bool>())
          tunnels.activate(integer_or(kGtpu, params, "tunnel_type", 0, UINT16_MAX),
                           params.value("loopback", false), idle());
        else
          tunnels.deactivate(idle());
        return Json::object();
      });
  methods.add("update_tunnel_client", Access::reader, {{"tunnel_type", integer}, {"attr", array}},
              [&tunnels](const Json& params) {
                tunnels.update(integer_in(params, "tunnel_type", 0, UINT16_MAX), params.at("attr"));
                return Json::object();
              });
  methods.add("tunnel_topo_get", Access::reader, {}, [&tunnels](const Json&) {
    return Json{{"tunnel_topo_data", tunnels.topology()}};
  });
  methods.add("tunnel_topo_clear", Access::owner, {}, [&tunnels, idle](const Json&) {
    tunnels.clear(idle());
    return Json::object();
  });
  methods.add(
      "tunnel_topo_fragment", Access::owner,
      {{"fragment", string}, optional("frag_first", boolean), optional("frag_last", boolean)},
      [&tunnels, idle](const Json& params) {
        tunnels.add(params.at("fragment"), params.value("frag_first", false),
                    params.value("frag_last", false), idle());
        return Json::object();
      });
}

}  // namespace engine
