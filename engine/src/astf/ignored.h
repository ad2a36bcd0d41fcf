#pragma once
// Senders that get no answer to packets of no flow.

#include <algorithm>
#include <cstdint>
#include <vector>

#include "net/l2_header.h"

namespace engine {

/// Both lists sorted.
struct Ignored {
  std::vector<uint32_t> addresses;  ///< IPv4, host order; over IPv6 the low 32 bits
  std::vector<MacAddress> macs;

  bool has(uint32_t address) const { return std::ranges::binary_search(addresses, address); }
  bool has(const MacAddress& mac) const { return std::ranges::binary_search(macs, mac); }
};

}  // namespace engine
