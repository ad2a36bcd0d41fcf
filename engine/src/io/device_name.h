#pragma once
// What a port's device is called, told from what the user wrote.

#include <string>

namespace engine {

enum class DeviceKind {
  dummy,
  wire,
  pci,             ///< "03:00.0", "0000:03:00.0"
  memif,           ///< "net_memif0,role=client", with or without "--vdev="
  virtual_device,  ///< DPDK's, in the same way: "net_ring0"
  interface,       ///< of Linux, in the network namespace the engine runs in
  packet_socket,   ///< such an interface by packet sockets: "packet:eth1"
};

struct DeviceName {
  DeviceKind kind;
  std::string name;       ///< as DPDK or Linux knows it
  std::string arguments;  ///< of a memif or a virtual device
};

/// Throws ConfigError naming the interfaces there are and how the others are written.
DeviceName parse_device_name(const std::string& text);

}  // namespace engine
