#pragma once
// The topology as clients upload and read it.

#include <memory>
#include <string>

#include "astf/topology.h"
#include "json/json_text.h"
#include "rpc/budgets.h"

namespace engine {

class TopologyUpload {
 public:
  /// `budget` pays for the topology.
  explicit TopologyUpload(ByteBudget& budget)
      : fragments_("Topology", kMaxBytes, budget), kept_(budget) {}

  /// Adds a piece. With the last one the topology takes effect for runs that start from then on.
  /// Throws RpcError when it is none, and keeps what was there before. `ports`: how many there are.
  void add(const std::string& fragment, bool first, bool last, size_t ports);
  void clear();
  /// Forgets pieces of an upload that was not completed.
  void drop_pieces() { fragments_.drop(); }

  /// As uploaded, {"vifs": [...], "gws": [...]}, but of two tags the outer one alone.
  const Json& json() const { return json_; }
  /// nullptr: there is none, all clients are directly behind their port.
  const std::shared_ptr<const Topology>& topology() const { return topology_; }

 private:
  /// Half of what an answer may have: clients ask for it when they connect.
  static constexpr size_t kMaxBytes = Budgets::kReplies / 2;

  Fragments fragments_;
  Charge kept_;
  Json json_ = {{"vifs", Json::array()}, {"gws", Json::array()}};
  std::shared_ptr<const Topology> topology_;
};

}  // namespace engine
