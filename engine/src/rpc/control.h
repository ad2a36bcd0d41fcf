#pragma once
// The control plane without sockets: bytes in, bytes out, and a tick.

#include <string>
#include <string_view>

#include "io/config.h"
#include "io/engine.h"
#include "rpc/captures.h"
#include "rpc/frame_watches.h"
#include "rpc/json.h"
#include "rpc/machine_statistics.h"
#include "rpc/method_table.h"
#include "rpc/ownership.h"
#include "rpc/paced_frames.h"
#include "rpc/pcap_files.h"
#include "rpc/profile_table.h"
#include "rpc/sessions.h"
#include "rpc/topology.h"

namespace engine {

/// What all methods share.
struct ControlState {
  ControlState(Engine& engine, const EngineConfig& config);

  /// Port number from parameters; throws RpcError when there is no such port.
  uint32_t port_of(const Json& params) const;

  Engine& engine;
  const EngineConfig& config;
  Sessions sessions;
  Ownership ownership;
  ProfileTable profiles;
  MachineStatistics machine;
  FrameWatches watches;
  Captures captures;
  PcapFiles pcap_files;
  PacedFrames paced_frames;
  TopologyUpload topology;

  std::string api_handler;  ///< proves the API handshake with this very server
  ServiceMode service;
  bool shutdown = false;
  Json ignored_addresses = Json::array();
  Json ignored_macs = Json::array();
  Json clients_information;  ///< asked for, not yet collected; null: nobody asked
  Json global_config;
  std::vector<bool> multicast;  ///< per port, as last set
  std::vector<bool> link_up;    ///< per port, as last told to clients
};

class Control {
 public:
  Control(Engine& engine, const EngineConfig& config);

  /// Answers one message. Never throws for what `bytes` hold.
  std::string handle(std::string_view bytes);
  /// Does what is due. Returns how long nothing more will be (seconds).
  double advance();

  ControlState& state() { return state_; }

 private:
  Json call(const std::string& name, const Json& params);
  void check_access(const Method& method, const Json& params) const;
  void tell_link_changes();

  ControlState state_;
  MethodTable methods_;
  double next_sample_ = 0;
};

// Each adds the methods of one subject.
void add_session_methods(MethodTable& methods, ControlState& state);
void add_system_methods(MethodTable& methods, ControlState& state);
void add_port_methods(MethodTable& methods, ControlState& state);
void add_packet_methods(MethodTable& methods, ControlState& state);
void add_profile_methods(MethodTable& methods, ControlState& state);
void add_statistics_methods(MethodTable& methods, ControlState& state);
void add_group_methods(MethodTable& methods, ControlState& state);
void add_latency_methods(MethodTable& methods, ControlState& state);
void add_client_methods(MethodTable& methods, ControlState& state);
void add_topology_methods(MethodTable& methods, ControlState& state);
void add_refused_methods(MethodTable& methods);
void add_extension_methods(MethodTable& methods, ControlState& state);
void add_flow_latency_methods(MethodTable& methods, ControlState& state);
void add_impairment_methods(MethodTable& methods, ControlState& state);
void add_pcap_methods(MethodTable& methods, ControlState& state);
void add_payload_methods(MethodTable& methods, ControlState& state);

}  // namespace engine
