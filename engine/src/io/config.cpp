#include "io/config.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <yaml-cpp/yaml.h>

#include <array>
#include <cctype>
#include <fstream>
#include <set>
#include <sstream>

#include "net/address_text.h"
#include "net/icmpv6.h"

namespace engine {
namespace {

/// Keys of TRex's own file (its src/platform_cfg.cpp) that ask for nothing this engine does.
const std::set<std::string> kPassedOver = {"version",
                                           "port_bandwidth_gb",
                                           "port_speed",
                                           "enable_zmq_pub",
                                           "telnet_port",
                                           "ezqm_ch_port",
                                           "services_core",
                                           "stack",
                                           "rx_desc",
                                           "tx_desc",
                                           "interface_mask",
                                           "interfaces_vdevs",
                                           "dpdk_devargs",
                                           "ext_dpdk_opt",
                                           "new_memory",
                                           "tw",
                                           "rx_thread_id",
                                           "mask",
                                           "mpls",
                                           "socket",
                                           "latency_thread_id"};

/// A place in the file, for messages.
class Reader {
 public:
  explicit Reader(std::string path) : path_(std::move(path)) {}

  [[noreturn]] void fail(const YAML::Mark& mark, const std::string& what) const {
    if (mark.is_null()) throw ConfigError(fmt::format("{}: {}", path_, what));
    throw ConfigError(fmt::format("{} line {}: {}", path_, mark.line + 1, what));
  }

  /// Fails with what `key` should be and what was found.
  [[noreturn]] void expect(const YAML::Node& node, const std::string& key,
                           const std::string& expected) const {
    const std::string found = node.IsScalar()     ? fmt::format("\"{}\"", node.Scalar())
                              : node.IsSequence() ? "a list"
                              : node.IsMap()      ? "a mapping"
                                                  : "nothing";
    fail(node.Mark(), fmt::format("{}: expected {}, found {}", key, expected, found));
  }

  uint32_t number(const YAML::Node& node, const std::string& key, uint32_t least,
                  uint32_t most) const {
    uint32_t value = 0;
    if (!node.IsScalar() || !YAML::convert<uint32_t>::decode(node, value) || value < least ||
        value > most)
      expect(node, key, fmt::format("a number from {} to {}", least, most));
    return value;
  }

  bool boolean(const YAML::Node& node, const std::string& key) const {
    bool value = false;
    if (!node.IsScalar() || !YAML::convert<bool>::decode(node, value))
      expect(node, key, "true or false");
    return value;
  }

  std::string text(const YAML::Node& node, const std::string& key) const {
    if (!node.IsScalar()) expect(node, key, "text");
    return node.Scalar();
  }

  /// Host order; 0.0.0.0 is TRex's way to say none.
  std::optional<uint32_t> ipv4(const YAML::Node& node, const std::string& key) const {
    in_addr address{};
    if (!node.IsScalar() || inet_pton(AF_INET, node.Scalar().c_str(), &address) != 1)
      expect(node, key, "an IPv4 address");
    if (address.s_addr == 0) return std::nullopt;
    return ntohl(address.s_addr);
  }

  IpAddress ipv6(const YAML::Node& node, const std::string& key) const {
    const auto address = node.IsScalar() ? parse_ipv6(node.Scalar()) : std::nullopt;
    if (!address || is_multicast(*address)) expect(node, key, "a unicast IPv6 address");
    return *address;
  }

  /// "02:00:00:00:00:01", or TRex's older list of six numbers.
  MacAddress mac(const YAML::Node& node, const std::string& key) const {
    const char* expected = "a MAC address such as 02:00:00:00:00:01";
    if (node.IsSequence()) {
      MacAddress address{};
      if (node.size() != address.size()) expect(node, key, expected);
      for (size_t i = 0; i < address.size(); ++i)
        address[i] = static_cast<uint8_t>(number(node[i], key, 0, 255));
      return address;
    }
    const auto address = node.IsScalar() ? parse_mac(node.Scalar()) : std::nullopt;
    if (!address) expect(node, key, expected);
    return *address;
  }

  /// A number, or of two stacked tags a list, the outer one first.
  VlanTags vlan(const YAML::Node& node, const std::string& key) const {
    const auto id = [&](const YAML::Node& of, uint32_t least) {
      return static_cast<uint16_t>(number(of, key, least, kMaxVlan));
    };
    if (!node.IsSequence()) return vlan_tags(id(node, 0));
    if (node.size() != 2) expect(node, key, "a number, or two in a list");
    return vlan_tags(id(node[0], 1), id(node[1], 1));
  }

  /// Calls `take`(key, value) for each entry of a mapping; keys it does not know (false) are noted.
  template <typename Take>
  void each(const YAML::Node& mapping, const std::string& where, Take take) {
    if (!mapping.IsMap()) expect(mapping, where, "a mapping");
    for (const auto& entry : mapping) {
      const std::string key = text(entry.first, where);
      if (!take(key, entry.second) && !kPassedOver.contains(key)) unknown_.push_back(key);
    }
  }

  const std::vector<std::string>& unknown() const { return unknown_; }

 private:
  std::string path_;
  std::vector<std::string> unknown_;
};

PortAddress read_port(Reader& reader, const YAML::Node& node) {
  PortAddress port;
  reader.each(node, "port_info", [&](const std::string& key, const YAML::Node& value) {
    if (key == "ip")
      port.ipv4 = reader.ipv4(value, key);
    else if (key == "default_gw" || key == "default_gateway")
      port.gateway = reader.ipv4(value, key);
    else if (key == "ipv6") {
      port.ipv6 = true;
      if (!value.IsScalar() || value.Scalar() != "auto")
        port.ipv6_address = reader.ipv6(value, key);
    } else if (key == "default_gw_ipv6")
      port.ipv6_gateway = reader.ipv6(value, key);
    else if (key == "dest_mac")
      port.destination = reader.mac(value, key);
    else if (key == "src_mac")
      port.mac = reader.mac(value, key);
    else if (key == "vlan")
      port.tags = reader.vlan(value, key);
    else
      return false;
    return true;
  });
  if (port.gateway.has_value() && !port.ipv4.has_value())
    reader.fail(node.Mark(), "port_info: default_gw without ip; give the port its own ip too");
  if (port.ipv6_gateway.has_value() && !port.ipv6)
    reader.fail(node.Mark(),
                "port_info: default_gw_ipv6 without ipv6; give the port an ipv6 address too, or "
                "\"auto\" for the one that its MAC address gives");
  return port;
}

/// CPUs of data threads in the engine's order: the first of every pair, then the second of every
/// pair.
std::vector<uint32_t> read_threads(Reader& reader, const YAML::Node& node) {
  if (!node.IsSequence()) reader.expect(node, "dual_if", "a list");
  std::vector<std::vector<uint32_t>> pairs;
  for (const YAML::Node& pair : node)
    reader.each(pair, "dual_if", [&](const std::string& key, const YAML::Node& value) {
      if (key != "threads") return false;
      if (!value.IsSequence()) reader.expect(value, key, "a list of CPU numbers");
      auto& cpus = pairs.emplace_back();
      for (const YAML::Node& cpu : value) cpus.push_back(reader.number(cpu, key, 0, 1023));
      return true;
    });
  std::vector<uint32_t> order;
  if (pairs.empty()) return order;
  for (size_t i = 0;; ++i)
    for (const std::vector<uint32_t>& cpus : pairs) {
      if (i >= cpus.size()) return order;
      order.push_back(cpus[i]);
    }
}

void read_platform(Reader& reader, const YAML::Node& node, EngineConfig& config) {
  reader.each(node, "platform", [&](const std::string& key, const YAML::Node& value) {
    if (key == "master_thread_id")
      config.control_cpu = reader.number(value, key, 0, 1023);
    else if (key == "dual_if")
      config.data_cpus = read_threads(reader, value);
    else
      return false;
    return true;
  });
}

void read_ports(Reader& reader, const YAML::Node& root, EngineConfig& config) {
  const YAML::Node interfaces = root["interfaces"];
  if (!interfaces.IsDefined())
    reader.fail(root.Mark(),
                "no \"interfaces\": list the ports, for example [\"eth1\", \"dummy\"]");
  if (!interfaces.IsSequence()) reader.expect(interfaces, "interfaces", "a list of ports");
  for (const YAML::Node& interface : interfaces)
    config.ports.push_back({reader.text(interface, "interfaces"), {}});

  if (const YAML::Node limit = root["port_limit"]; limit.IsDefined()) {
    const uint32_t ports = reader.number(limit, "port_limit", 1, kMostPorts);
    if (ports > config.ports.size())
      reader.fail(limit.Mark(), fmt::format("port_limit is {}, but interfaces lists {}", ports,
                                            config.ports.size()));
    config.ports.resize(ports);
  }
  if (config.ports.empty() || config.ports.size() % 2 != 0)
    reader.fail(interfaces.Mark(),
                fmt::format("{} port(s): they come in pairs of a client and a server port; put "
                            "\"dummy\" in the place of one that is not used",
                            config.ports.size()));
  if (config.ports.size() > kMostPorts)
    reader.fail(
        interfaces.Mark(),
        fmt::format("{} ports: clients can name at most {}, a bit of a mask each; list fewer, "
                    "or set port_limit to use the first of them",
                    config.ports.size(), kMostPorts));
  for (size_t i = 0; i < config.ports.size(); i += 2)
    if ((config.ports[i].device == "wire") != (config.ports[i + 1].device == "wire"))
      reader.fail(interfaces.Mark(),
                  fmt::format("ports {} and {}: \"wire\" joins both ports of a pair", i, i + 1));

  const YAML::Node info = root["port_info"];
  if (!info.IsDefined()) return;
  if (!info.IsSequence()) reader.expect(info, "port_info", "a list with an entry for each port");
  for (size_t i = 0; i < info.size() && i < config.ports.size(); ++i)
    config.ports[i].address = read_port(reader, info[i]);
}

void read_root(Reader& reader, const YAML::Node& root, EngineConfig& config) {
  bool low_end = false;
  uint32_t low_end_core = 0;
  reader.each(root, "configuration", [&](const std::string& key, const YAML::Node& value) {
    if (key == "c")
      config.cores_per_pair = reader.number(value, key, 1, 128);
    else if (key == "zmq_rpc_port")
      config.rpc_port = static_cast<uint16_t>(reader.number(value, key, 1, 65535));
    else if (key == "zmq_pub_port")
      config.async_port = static_cast<uint16_t>(reader.number(value, key, 1, 65535));
    else if (key == "limit_memory")
      config.memory_mb = reader.number(value, key, 1, UINT32_MAX);
    else if (key == "prefix")
      config.prefix = reader.text(value, key);
    else if (key == "port_mtu")
      reader.fail(value.Mark(),
                  "port_mtu is not used; take it out, set the MTU where the interface is (ip link "
                  "set NAME mtu BYTES), and the size of segments by tcp.mss of the profile");
    else if (key == "platform")
      read_platform(reader, value, config);
    else if (key == "low_end")
      low_end = reader.boolean(value, key);
    else if (key == "low_end_core")
      low_end_core = reader.number(value, key, 0, 1023);
    else if (key == "memory")
      reader.each(value, key, [&](const std::string& name, const YAML::Node& amount) {
        if (name == "dp_flows") config.max_flows = reader.number(amount, name, 1, UINT32_MAX);
        return name == "dp_flows" || name == "global_flows" || name.find("mbuf_") != name.npos;
      });
    else
      return key == "interfaces" || key == "port_limit" || key == "port_info";
    return true;
  });
  read_ports(reader, root, config);
  if (low_end) {  // TRex's mode with everything on one CPU
    config.control_cpu = low_end_core;
    config.data_cpus.assign(config.ports.size() / 2 * config.cores_per_pair, low_end_core);
  }
}

}  // namespace

EngineConfig parse_config(const std::string& text, const std::string& path) {
  Reader reader(path);
  YAML::Node root;
  try {
    root = YAML::Load(text);
  } catch (const YAML::ParserException& error) {
    reader.fail(error.mark, "not YAML: " + error.msg);
  }
  if (root.IsSequence() && root.size() == 1) root = YAML::Node(root[0]);
  if (!root.IsMap())
    reader.fail(root.Mark(), "expected a mapping, or a list of one, as in TRex's own file");

  EngineConfig config;
  read_root(reader, root, config);
  if (!reader.unknown().empty())
    config.notices.push_back(
        fmt::format("{}: keys passed over: {}", path, fmt::join(reader.unknown(), ", ")));
  return config;
}

EngineConfig load_config(const std::string& path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  if (!file)
    throw ConfigError(fmt::format("cannot read the configuration file {}: {}; name one with --cfg",
                                  path, strerror(errno)));
  return parse_config(text.str(), path);
}

}  // namespace engine
