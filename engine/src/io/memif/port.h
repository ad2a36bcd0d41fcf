#pragma once
// Ports on memif (shared memory packet interface): a virtual switch, another engine, or another
// program on DPDK. Written as DPDK's device (net_memif0,role=client,...), and without DPDK.

#include "io/device_name.h"
#include "io/port.h"

namespace engine {

/// Opens the memif with `cores` queues. As a server it waits for its client, as a client for its
/// server. Throws ConfigError that names the arguments there are.
std::unique_ptr<Port> open_memif_port(const DeviceName& device, uint32_t cores);

}  // namespace engine
