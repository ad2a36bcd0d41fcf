#pragma once
// What the engine is told when it starts.

#include <cstdint>
#include <limits>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "net/responder.h"

namespace engine {

/// A set of ports, bit p for port p: as wide as TRex's clients have it (client_mask of `start`,
/// mask of `start_latency`), which is what bounds the number of ports.
using PortMask = uint32_t;
inline constexpr uint32_t kMostPorts = std::numeric_limits<PortMask>::digits;

/// A configuration that cannot be used: what is wrong and how to fix it.
struct ConfigError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// One port as configured: `device` is "dummy", "wire", a PCI address, a Linux interface's name
/// (AF_XDP) or that after "packet:" (packet sockets), a memif, or a virtual device of DPDK, both
/// with arguments ("net_memif0,role=client").
struct PortConfig {
  std::string device;
  PortAddress address;  ///< mac all zero: the device's own
};

struct EngineConfig {
  std::vector<PortConfig> ports;        ///< even count, at most kMostPorts; pairs (0,1), (2,3) ...
  uint32_t cores_per_pair = 1;          ///< -c
  std::vector<uint32_t> data_cpus;      ///< Linux CPUs for data threads, in order; empty: chosen
  std::optional<uint32_t> control_cpu;  ///< master_thread_id
  uint16_t rpc_port = 4501;
  uint16_t async_port = 4500;
  std::string bind = "127.0.0.1";
  std::string pcap_folder;           ///< where clients may have captures written; empty: nowhere
  bool huge_pages = true;            ///< false: --no-huge
  bool cut_by_device = true;         ///< false: --tso-disable; frames hold one segment each
  bool sleeps = false;               ///< --sleep: an idle data core waits for a frame or a start
  uint32_t memory_mb = 0;            ///< limit_memory; 0: chosen
  uint32_t max_flows = 1u << 22;     ///< memory.dp_flows: open flows of all data cores together
  std::string prefix;                ///< DPDK file prefix
  std::vector<std::string> notices;  ///< what the user should know, a line each
};

}  // namespace engine
