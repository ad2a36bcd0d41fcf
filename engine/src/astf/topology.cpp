#include "astf/topology.h"

#include <algorithm>
#include <utility>

namespace engine {

namespace {

std::pair<uint32_t, uint32_t> end_of(const ClientGroup& group) {
  return {group.port, group.last};
}

}  // namespace

Topology::Topology(std::vector<ClientGroup> groups) : groups_(std::move(groups)) {
  std::ranges::sort(groups_, {}, end_of);
}

std::optional<size_t> Topology::find(uint32_t port, uint32_t client) const {
  const auto found = std::ranges::lower_bound(groups_, std::pair{port, client}, {}, end_of);
  if (found == groups_.end() || found->port != port || client < found->first) return std::nullopt;
  return static_cast<size_t>(found - groups_.begin());
}

std::optional<uint32_t> Topology::first_missing(uint32_t port, uint32_t first,
                                                uint32_t last) const {
  for (uint64_t client = first; client <= last;) {
    const auto group = find(port, static_cast<uint32_t>(client));
    if (!group) return static_cast<uint32_t>(client);
    client = uint64_t{groups_[*group].last} + 1;
  }
  return std::nullopt;
}

}  // namespace engine
