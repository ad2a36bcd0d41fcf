#pragma once
// Who is behind a client port: for ranges of clients, an interface and a gateway of their own.

#include <cstdint>
#include <optional>
#include <vector>

#include "net/l2_header.h"

namespace engine {

/// Clients whose frames differ at layer 2 from those of the port itself.
struct ClientGroup {
  uint32_t port = 0;   ///< the client port they are behind
  uint32_t first = 0;  ///< IPv4 addresses, host order; over IPv6 the low 32 bits
  uint32_t last = 0;
  MacAddress destination{};            ///< of their gateway
  std::optional<MacAddress> source{};  ///< of their interface; nullopt: the port's, with its VLAN
  VlanTags tags{};                     ///< of their interface
};

class Topology {
 public:
  /// Groups of one port must not overlap.
  explicit Topology(std::vector<ClientGroup> groups);

  const std::vector<ClientGroup>& groups() const { return groups_; }
  /// Number in groups() of the group of a client behind `port`; nullopt: there is none.
  std::optional<size_t> find(uint32_t port, uint32_t client) const;
  /// The first client of [first, last] behind `port` that is in no group; nullopt: all are.
  std::optional<uint32_t> first_missing(uint32_t port, uint32_t first, uint32_t last) const;

 private:
  std::vector<ClientGroup> groups_;  ///< by port, then by address
};

}  // namespace engine
