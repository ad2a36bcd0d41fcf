#pragma once
// What the cores of a port share: where its gateway is.

#include <atomic>
#include <cstdint>
#include <optional>

#include "net/l2_header.h"

namespace engine {

/// The MAC address of a port's gateway, as its own answers and announcements tell it. They reach
/// one core of the port; all follow. Whoever heard of the gateway last is believed.
class LearnedGateway {
 public:
  std::optional<MacAddress> get() const {
    const uint64_t known = known_.load(std::memory_order_relaxed);
    if (known == kUnknown) return std::nullopt;
    MacAddress mac;
    std::memcpy(mac.data(), &known, mac.size());
    return mac;
  }
  void set(const MacAddress& mac) {
    uint64_t known = 0;
    std::memcpy(&known, mac.data(), mac.size());
    known_.store(known, std::memory_order_relaxed);
  }

 private:
  static constexpr uint64_t kUnknown = UINT64_MAX;  ///< longer than any address

  std::atomic<uint64_t> known_ = kUnknown;
};

}  // namespace engine
