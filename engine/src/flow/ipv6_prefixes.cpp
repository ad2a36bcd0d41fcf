#include "flow/ipv6_prefixes.h"

namespace engine {

uint32_t Ipv6Prefixes::take(const IpAddress& remote, const IpAddress& local) {
  const uint64_t bits = (remote.high ^ middle(remote)) * 0x9e37'79b9'7f4a'7c15 +
                        (local.high ^ middle(local)) * 0xff51'afd7'ed55'8ccd;
  uint32_t& recent = recent_[(bits >> 32) % recent_.size()];
  // What was used last may have been given back meanwhile.
  if (recent != Pool<Pair>::kNone && pairs_[recent].connections != 0 &&
      are_of(recent, remote, local)) {
    ++pairs_[recent].connections;
    return recent;
  }
  recent = pairs_.take();
  pairs_[recent] = {remote.high, local.high, middle(remote), middle(local), 1, 0};
  return recent;
}

}  // namespace engine
