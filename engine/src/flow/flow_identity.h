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

  /// Both ports as in what this end sends: its own in the upper half.
  uint32_t ports() const { return uint32_t{local_port} << 16 | remote_port; }
};

}  // namespace engine
