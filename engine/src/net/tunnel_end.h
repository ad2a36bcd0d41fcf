#pragma once
// The end of tunnels at a port: which packets go into which tunnel.

#include <cstdint>
#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

#include "base/side.h"
#include "net/gtpu.h"
#include "stats/drops.h"

namespace engine {

/// Tunnels of clients that follow one another; each has another identifier.
struct TunnelRange {
  uint32_t first = 0;  ///< IPv4 addresses, host order; over IPv6 the low 32 bits
  uint32_t last = 0;
  Tunnel tunnel;           ///< the first client's
  uint32_t teid_step = 0;  ///< from one client's identifier to the next one's
};

/// Which client has which tunnel.
class Tunnels {
 public:
  /// `ranges` must not overlap. A client of its own in `clients` is in none.
  Tunnels(std::vector<TunnelRange> ranges, std::unordered_map<uint32_t, Tunnel> clients);

  std::optional<Tunnel> find(uint32_t client) const;

 private:
  std::vector<TunnelRange> ranges_;  ///< by address
  std::unordered_map<uint32_t, Tunnel> clients_;
};

/// Encapsulates and decapsulates the frames of one port on one data core. A client port has the
/// tunnels that it is given. A server port learns them: it answers a client in the tunnel from
/// which that client's packets come, in the opposite direction. TCP and UDP are in tunnels or are
/// given up; anything else, such as ARP and a port's own pings, may do without.
class TunnelEnd {
 public:
  /// Clients that a server port learns of at most.
  static constexpr size_t kMostLearned = 1u << 20;

  /// A server port's has room for all that it may learn: a table that grows would be sorted anew in
  /// one go, a million clients between two frames.
  explicit TunnelEnd(Side side) : side_(side) {
    if (side == Side::server) learned_.reserve(kMostLearned);
  }

  /// Of a client port: its tunnels from now on.
  void set(std::shared_ptr<const Tunnels> tunnels) { tunnels_ = std::move(tunnels); }

  /// Encapsulates a frame to send, whose checksums are complete. False: it is given up.
  bool pass_sent(Frame& frame);
  /// Decapsulates a received frame; its head may then begin elsewhere. False: it is given up.
  bool pass_received(Frame& frame);

  const Drops& drops() const { return drops_; }

 private:
  std::optional<Tunnel> find(uint32_t source, uint32_t destination) const;
  bool learn(uint32_t client, const Tunnel& tunnel);

  Side side_;
  std::shared_ptr<const Tunnels> tunnels_;
  std::unordered_map<uint32_t, Tunnel> learned_;  ///< as to send in, by client
  Drops drops_;
};

}  // namespace engine
