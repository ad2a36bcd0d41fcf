// The server as a whole: version, hardware, settings, shutdown.

#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <climits>
#include <fstream>

#include "net/address_text.h"
#include "rpc/methods.h"

namespace engine {

namespace {

using enum ParameterType;

std::string host_name() {
  char name[HOST_NAME_MAX + 1] = "";
  gethostname(name, sizeof name - 1);
  return name;
}

/// The CPU's model name, for display.
std::string cpu_model() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);)
    if (line.starts_with("model name"))
      if (const size_t colon = line.find(": "); colon != std::string::npos)
        return line.substr(colon + 2);
  return "unknown";
}

std::string format_uptime(double seconds) {
  const auto whole = static_cast<uint64_t>(seconds);
  return fmt::format("{} days, {:02}:{:02}:{:02}", whole / 86400, whole / 3600 % 24,
                     whole / 60 % 60, whole % 60);
}

Json describe_port(const Ports& ports, uint32_t port) {
  const PortInfo& info = ports.infos()[port];
  const PortState now = ports.state(port);
  Json speeds = Json::array();
  if (info.speed_mbps > 0) speeds.push_back(info.speed_mbps);
  return {{"index", port},
          {"driver", info.driver},
          {"description", info.description},
          {"pci_addr", info.pci_address},
          {"numa", info.numa},
          {"hw_mac", mac_text(now.address.mac)},
          {"stack", "legacy"},
          {"rx", {{"caps", Json::array()}, {"counters", 0}}},
          {"is_fc_supported", now.flow_control.has_value()},
          {"is_led_supported", false},
          {"is_link_supported", !info.is_virtual},
          {"is_prom_supported", !info.is_dummy},
          {"is_vxlan_supported", false},
          {"is_ieee1588_supported", false},
          {"is_virtual", info.is_virtual},
          {"supp_speeds", std::move(speeds)},
          {"cores", info.cores}};
}

Json system_info(const ControlState& state) {
  const Subjects& engine = state.engine;
  Json ports = Json::array();
  for (uint32_t port = 0; port < engine.ports.infos().size(); ++port)
    ports.push_back(describe_port(engine.ports, port));
  return {{"hostname", host_name()},
          {"uptime", format_uptime(engine.clock.now())},
          {"core_type", cpu_model()},
          {"dp_core_count", engine.cores.count()},
          {"dp_core_count_per_port", engine.cores.count_per_pair()},
          {"is_multiqueue_mode", engine.cores.count_per_pair() > 1},
          {"advanced_per_stream_stats", false},
          {"port_count", ports.size()},
          {"ports", std::move(ports)}};
}

Json shut_down(ControlState& state, const Json& params) {
  const bool owned_by_other =
      state.ownership.taken() && state.ownership.user() != params.at("user").get<std::string>();
  if (owned_by_other && !params.at("force").get<bool>())
    throw refused("server is owned by '" + state.ownership.user() +
                  "' (use 'force' argument to override)");
  state.shutdown = true;
  return Json::object();
}

// What TRex can do and this engine cannot: refused in TRex's words where it has some, so that its
// clients and tests see a server without it, not one of another version.

constexpr const char* kNoStreams =
    "Stateless streams are not supported: this server has ASTF mode alone, load a profile";
constexpr const char* kNoPacketGroups =
    "Tagged packet groups are not supported: they are of stateless streams, and this server has "
    "ASTF mode alone";
constexpr const char* kNoNamespaces =
    "Namespaces are not supported: they need a port on the Linux stack, these have the stack "
    "\"legacy\"";
constexpr const char* kNoCapturePort =
    "Could not enable capture port: this server sends no packets to an endpoint; start a capture "
    "and fetch them";

void refuse_what_trex_can(MethodTable& methods) {
  for (const char* name :
       {"add_stream", "remove_stream", "remove_all_streams", "get_stream", "get_stream_list",
        "get_all_streams", "start_traffic", "stop_traffic", "pause_traffic", "resume_traffic",
        "update_traffic", "pause_streams", "resume_streams", "update_streams", "validate",
        "push_remote", "remove_rx_filters"})
    methods.refuse(name, kNoStreams);
  for (const char* name : {"enable_tpg", "disable_tpg", "update_tpg_tags"})
    methods.refuse(name, kNoPacketGroups);
  methods.refuse("conf_ns_batch", kNoNamespaces);
  for (const char* name : {"start_capture_port", "stop_capture_port", "set_capture_port_bpf"})
    methods.refuse(name, kNoCapturePort);
}

}  // namespace

void add_system_methods(MethodTable& methods, ControlState& state) {
  methods.add("ping", Access::anyone, {}, [](const Json&) {
    const std::chrono::duration<double> time = std::chrono::system_clock::now().time_since_epoch();
    return Json{{"ts", time.count()}};
  });

  methods.add("get_version", Access::anyone, {}, [](const Json&) {
    return Json{{"version", "v3.08 (astf-engine)"},
                {"build_date", __DATE__},
                {"build_time", __TIME__},
                {"built_by", "stackcost"},
                {"mode", "ASTF"}};
  });

  methods.add("get_system_info", Access::reader, {},
              [&state](const Json&) { return system_info(state); });

  methods.add("shutdown", Access::reader, {{"force", boolean}, {"user", string}},
              [&state](const Json& params) { return shut_down(state, params); });

  // TRex's settings are kept for the client that asks; the engine has nothing they would change.
  methods.add("get_global_cfg", Access::reader, {},
              [&state](const Json&) { return state.global_config; });
  methods.add("set_global_cfg", Access::reader,
              {optional("sched_max_stretch", number), optional("process_at_cp", boolean),
               optional("do_mbuf_cache", boolean)},
              [&state](const Json& params) {
                for (auto& [name, value] : state.global_config.items())
                  if (params.contains(name)) value = params.at(name);
                return Json::object();
              });

  // Stateless mode's packet groups; ASTF clients ask and insist on an answer.
  methods.add("get_active_pgids", Access::reader, {}, [](const Json&) {
    return Json{{"ids", {{"flow_stats", Json::array()}, {"latency", Json::array()}}}};
  });
  methods.add("get_pgid_stats", Access::reader, {}, [](const Json&) { return Json::object(); });
  refuse_what_trex_can(methods);
}

}  // namespace engine
