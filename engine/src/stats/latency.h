#pragma once
// How long the client flows of one template took.

#include <array>
#include <cstdint>

#include "stats/histogram.h"

namespace engine {

/// What a time is taken to, from the flow's intended start by the schedule.
enum class LatencyKind : uint8_t {
  connect,        ///< the handshake is complete (TCP: the SYN-ACK came)
  first_byte,     ///< the first payload from the peer came
  completion,     ///< the client's program has ended: it has received all that it waits for
  tls_handshake,  ///< that of TLS is complete on the client's side; only of templates with TLS
};
inline constexpr size_t kLatencyKinds = 4;

/// Times in microseconds. Owned and written by one data core alone; copied by it for readers, one
/// histogram at a time.
struct LatencyBlock {
  std::array<Histogram, kLatencyKinds> kinds;

  Histogram& operator[](LatencyKind kind) { return kinds[static_cast<size_t>(kind)]; }
  const Histogram& operator[](LatencyKind kind) const { return kinds[static_cast<size_t>(kind)]; }

  LatencyBlock& operator+=(const LatencyBlock& other) {
    for (size_t kind = 0; kind < kLatencyKinds; ++kind) kinds[kind] += other.kinds[kind];
    return *this;
  }
};

}  // namespace engine
