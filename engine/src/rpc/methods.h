#pragma once
// What the control plane keeps between two requests, and all methods, by subject.

#include <optional>
#include <string>
#include <vector>

#include "astf/address_ranges.h"
#include "control/config.h"
#include "control/subjects.h"
#include "json/json_text.h"
#include "rpc/budgets.h"
#include "rpc/capture_taps.h"
#include "rpc/captures.h"
#include "rpc/machine_statistics.h"
#include "rpc/method_table.h"
#include "rpc/paced_frames.h"
#include "rpc/pcap_files.h"
#include "rpc/profiles.h"
#include "rpc/rpc_error.h"
#include "rpc/sessions.h"
#include "rpc/topology.h"
#include "rpc/tunnels.h"

namespace engine {

/// What all methods share.
struct ControlState {
  ControlState(const Subjects& engine, const EngineConfig& config);

  /// Port number from parameters; throws RpcError when there is no such port.
  uint32_t port_of(const Json& params) const;

  const Subjects engine;
  Budgets budgets;  ///< before all that takes from them
  RpcSubscribers subscribers;
  Ownership ownership;
  ProfileTable profiles;
  MachineStatistics machine;
  CaptureTaps taps;
  Captures captures;
  PcapFiles pcap_files;
  PacedFrames paced_frames;
  TopologyUpload topology;
  TunnelControl tunnels;

  std::string api_handler;  ///< proves the API handshake with this very server
  ServiceMode service;
  bool shutdown = false;
  Json ignored_addresses = Json::array();
  Json ignored_macs = Json::array();
  std::optional<AddressRanges> clients_asked;  ///< information not yet collected
  Json global_config;
  std::vector<bool> multicast;  ///< per port, as last set
  std::vector<bool> link_up;    ///< per port, as last told to clients
};

// Each adds the methods of one subject.
/// The server as a whole, and what it refuses.
void add_system_methods(MethodTable& methods, ControlState& state);
/// Who asks, who owns the context, what is told to whom.
void add_session_methods(MethodTable& methods, ControlState& state);
/// Profiles, from their upload to the end of their runs.
void add_profile_methods(MethodTable& methods, ControlState& state);
/// Counters and rates of profiles.
void add_counter_methods(MethodTable& methods, ControlState& state);
/// What the engine itself does, uses and drops.
void add_machine_methods(MethodTable& methods, ControlState& state);
/// Latency: of streams, and of flows.
void add_latency_methods(MethodTable& methods, ControlState& state);
/// TLS of templates.
void add_tls_methods(MethodTable& methods, ControlState& state);
/// Ports: their state, addresses and attributes.
void add_port_methods(MethodTable& methods, ControlState& state);
/// Senders that no port answers.
void add_ignored_methods(MethodTable& methods, ControlState& state);
/// What impairs frames.
void add_impairment_methods(MethodTable& methods, ControlState& state);
/// What is between the ports and their clients.
void add_topology_methods(MethodTable& methods, ControlState& state);
/// Tunnels that clients are in.
void add_tunnel_methods(MethodTable& methods, ControlState& state);
/// Service mode, and frames that are seen and kept.
void add_capture_methods(MethodTable& methods, ControlState& state);
/// Frames that are written to files.
void add_pcap_methods(MethodTable& methods, ControlState& state);
/// Frames that clients have sent.
void add_sending_methods(MethodTable& methods, ControlState& state);

}  // namespace engine
