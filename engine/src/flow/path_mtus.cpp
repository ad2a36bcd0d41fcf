#include "flow/path_mtus.h"

namespace engine {

void PathMtus::learn(const IpAddress& remote, uint32_t mtu, Nanoseconds now) {
  if (known_.size() >= kMost && !known_.contains(remote))
    std::erase_if(known_, [now](const auto& path) { return now - path.second.since >= kLifetime; });
  if (known_.size() < kMost || known_.contains(remote)) known_[remote] = {mtu, now};
}

uint32_t PathMtus::find(const IpAddress& remote, Nanoseconds now) {
  const auto path = known_.find(remote);
  if (path == known_.end()) return 0;
  if (now - path->second.since < kLifetime) return path->second.mtu;
  known_.erase(path);
  return 0;
}

}  // namespace engine
