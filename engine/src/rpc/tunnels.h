#pragma once
// GTP-U as clients ask for it: whether ports have tunnels, and which client has which.

#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "control/ports.h"
#include "json/json_text.h"
#include "rpc/budgets.h"
#include "rpc/latency.h"

namespace engine {

class TunnelControl {
 public:
  /// Clients with a tunnel of their own, in no range.
  static constexpr size_t kMostClients = 100'000;

  /// `budget` pays for a topology.
  TunnelControl(Ports& ports, ByteBudget& budget)
      : ports_(ports),
        fragments_("Tunnel topology", Budgets::kReplies / 2, budget),
        kept_(budget) {}

  // All throw RpcError in TRex's words where it has some. `idle`: no profile runs.
  void activate(uint64_t type, bool loopback, bool idle);
  /// Forgets all tunnels.
  void deactivate(bool idle);
  /// Gives clients tunnels of their own, from now on.
  void update(uint64_t type, const Json& records);

  /// Adds a piece of a topology, ranges of clients with tunnels. With the last one it takes effect.
  void add(const std::string& fragment, bool first, bool last, bool idle);
  void clear(bool idle);
  void drop_pieces() { fragments_.drop(); }
  /// As uploaded, for clients that ask for it.
  const std::string& topology() const;
  /// Between which addresses the topology wants latency streams; nullopt: it says nothing.
  const std::optional<LatencyControl::Addresses>& latency() const { return latency_; }

 private:
  void require_active(const char* otherwise) const;
  void apply();

  Ports& ports_;
  Fragments fragments_;
  Charge kept_;
  bool active_ = false;
  std::string topology_;
  std::vector<TunnelRange> ranges_;
  std::unordered_map<uint32_t, Tunnel> clients_;
  std::optional<LatencyControl::Addresses> latency_;
  /// What the cores have: kept here, so that no core ever has to take one apart.
  std::shared_ptr<const Tunnels> applied_;
};

}  // namespace engine
