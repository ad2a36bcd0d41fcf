#pragma once
// What tells a connection from others, open or in TIME_WAIT.

#include <cstdint>

#include "net/address.h"

namespace engine {

/// Addresses and ports of one end of a connection, and its place in the flow table.
struct FlowIdentity {
  IpAddress remote;
  IpAddress local;
  uint16_t remote_port;
  uint16_t local_port;
  uint32_t table_next;  ///< next entry in the bucket of the flow table
};

}  // namespace engine
