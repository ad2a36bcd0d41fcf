#pragma once
// What routers said of paths, for connections that are opened later: RFC 1191 section 6.

#include <cstdint>
#include <map>

#include "base/time.h"
#include "net/address.h"

namespace engine {

/// The MTUs of one data core's paths, by the other end's address.
class PathMtus {
 public:
  /// A path may have become wider by then: RFC 1191 section 6.3, RFC 8201 section 5.3.
  static constexpr Nanoseconds kLifetime = 600 * kSecond;
  /// Paths remembered at most. Connections of others find the MTU by themselves.
  static constexpr uint32_t kMost = 4096;

  bool empty() const { return known_.empty(); }
  /// The path to `remote` carries packets of `mtu` bytes, as of `now`.
  void learn(const IpAddress& remote, uint32_t mtu, Nanoseconds now);
  /// The MTU of a path, bytes; 0: nothing is known. It forgets what is too old.
  uint32_t find(const IpAddress& remote, Nanoseconds now);

 private:
  struct Known {
    uint32_t mtu;
    Nanoseconds since;
  };

  std::map<IpAddress, Known> known_;
};

}  // namespace engine
