#pragma once
// The upper 96 bits of the addresses of connections over IPv6.

#include <array>
#include <cstddef>
#include <cstdint>

#include "flow/pool.h"
#include "net/address.h"

namespace engine {

/// Pairs of prefixes, a remote and a local one, each with the number of connections that have it.
/// ASTF varies the low 32 bits alone, so most connections share a few pairs: one of those used
/// last. Where a peer's addresses have more, some are held twice, and no packet pays for them.
/// There is room for a pair for every flow, so it is never full.
class Ipv6Prefixes {
 public:
  /// `flows`: connections there may be at once, in TIME_WAIT or not.
  explicit Ipv6Prefixes(uint32_t flows) : pairs_(flows) { recent_.fill(Pool<Pair>::kNone); }

  /// A number for one more connection between these addresses, until it is given back.
  uint32_t take(const IpAddress& remote, const IpAddress& local);
  void give_back(uint32_t number) {
    if (--pairs_[number].connections == 0) pairs_.give_back(number);
  }
  /// Whether the pair is that of these addresses.
  bool are_of(uint32_t number, const IpAddress& remote, const IpAddress& local) const {
    const Pair& pair = pairs_[number];
    return ((pair.remote_high ^ remote.high) | (pair.local_high ^ local.high) |
            (pair.remote_middle ^ middle(remote)) | (pair.local_middle ^ middle(local))) == 0;
  }
  /// The addresses that have these low bits.
  IpAddress remote(uint32_t number, uint32_t low) const {
    return {pairs_[number].remote_high, uint64_t{pairs_[number].remote_middle} << 32 | low};
  }
  IpAddress local(uint32_t number, uint32_t low) const {
    return {pairs_[number].local_high, uint64_t{pairs_[number].local_middle} << 32 | low};
  }

  static constexpr size_t kBytes = 32;  ///< a pair takes
  uint32_t in_use() const { return pairs_.in_use(); }
  size_t touched_bytes() const { return pairs_.touched_bytes(); }

 private:
  struct Pair {
    uint64_t remote_high;
    uint64_t local_high;
    uint32_t remote_middle;
    uint32_t local_middle;
    uint32_t connections;
    uint32_t next_free;

    uint32_t& pool_next() { return next_free; }
  };
  static_assert(sizeof(Pair) == kBytes);

  static uint32_t middle(const IpAddress& address) {
    return static_cast<uint32_t>(address.low >> 32);
  }

  Pool<Pair> pairs_;
  std::array<uint32_t, 64> recent_;  ///< the last pair taken, by the addresses' bits
};

}  // namespace engine
