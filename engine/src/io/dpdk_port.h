#pragma once
// Ports on DPDK devices: a Linux interface, a NIC by its PCI address, or a virtual device.

#include "io/device_name.h"
#include "io/port.h"

namespace engine {

/// Packet memory that a DPDK port with `cores` queues needs.
uint32_t packet_memory_mb(uint32_t cores);

/// Opens and starts the device; DPDK runs. `port`: its number here. `cores`: queues it must have.
/// A Linux interface is attached by AF_XDP, or by packet sockets where that does not work: a line
/// in `notices`. Throws ConfigError with DPDK's own words.
std::unique_ptr<Port> open_dpdk_port(const DeviceName& device, uint32_t port, uint32_t cores,
                                     std::vector<std::string>& notices);

}  // namespace engine
