#pragma once
// What the control plane keeps between two requests.

#include <optional>
#include <string>
#include <vector>

#include "astf/address_ranges.h"
#include "control/config.h"
#include "control/subjects.h"
#include "rpc/frames/captures.h"
#include "rpc/frames/frame_watches.h"
#include "rpc/frames/paced_frames.h"
#include "rpc/frames/pcap_files.h"
#include "rpc/memory/budgets.h"
#include "rpc/network/topology.h"
#include "rpc/profile/profile_table.h"
#include "rpc/protocol/json.h"
#include "rpc/session/ownership.h"
#include "rpc/session/sessions.h"
#include "rpc/statistics/machine_statistics.h"

namespace engine {

/// What all methods share.
struct ControlState {
  ControlState(const Subjects& engine, const EngineConfig& config);

  /// Port number from parameters; throws RpcError when there is no such port.
  uint32_t port_of(const Json& params) const;

  const Subjects engine;
  Budgets budgets;  ///< before all that takes from them
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
  std::optional<AddressRanges> clients_asked;  ///< information not yet collected
  Json global_config;
  std::vector<bool> multicast;  ///< per port, as last set
  std::vector<bool> link_up;    ///< per port, as last told to clients
};

}  // namespace engine
