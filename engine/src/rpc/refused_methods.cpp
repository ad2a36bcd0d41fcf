// What TRex can do and this engine cannot: refused in TRex's words where it has some, so that its
// clients and tests see a server without it, not one of another version.

#include "rpc/methods.h"

namespace engine {

namespace {

constexpr const char* kNoTunnelTopology =
    "Tunnel mode has to be activated in order to use Tunnel Topology";
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

}  // namespace

void add_refused_methods(MethodTable& methods) {
  methods.add("is_tunnel_supported", Access::reader, {}, [](const Json&) {
    return Json{{"is_tunnel_supported", false},
                {"error_msg", "Tunnel is not supported: this server has no tunnels"}};
  });
  methods.add("activate_tunnel_mode", Access::reader, {{"activate", ParameterType::boolean}},
              [](const Json& params) -> Json {
                throw refused(params.at("activate").get<bool>()
                                  ? "The tunnel handler is null on tunnel mode: tunnel type is not "
                                    "supported"
                                  : "The tunnel mode is already off");
              });
  methods.refuse("update_tunnel_client", "The tunnel mode needs to be activated");
  for (const char* name : {"tunnel_topo_get", "tunnel_topo_fragment", "tunnel_topo_clear"})
    methods.refuse(name, kNoTunnelTopology);
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

}  // namespace engine
