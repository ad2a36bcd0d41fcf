#pragma once
// What was given up, by reason.

#include <array>
#include <cstddef>
#include <cstdint>

namespace engine {

/// Why; see stats/drops.def.
enum class Drop : uint8_t {
#define DROP(name, help) name,
#define DROP_AS(name, counter, help) name,
#include "stats/drops.def"
#undef DROP
#undef DROP_AS
  count
};

inline constexpr size_t kDropReasons = static_cast<size_t>(Drop::count);

/// Names of the reasons, in their order.
inline constexpr std::array<const char*, kDropReasons> kDropNames{
#define DROP(name, help) #name,
#define DROP_AS(name, counter, help) #name,
#include "stats/drops.def"
#undef DROP
#undef DROP_AS
};

/// Counts of one port on one data core, written by that core alone.
struct Drops {
  std::array<uint64_t, kDropReasons> values{};

  uint64_t& operator[](Drop reason) { return values[static_cast<size_t>(reason)]; }
  uint64_t operator[](Drop reason) const { return values[static_cast<size_t>(reason)]; }

  Drops& operator+=(const Drops& other) {
    for (size_t i = 0; i < kDropReasons; ++i) values[i] += other.values[i];
    return *this;
  }
};

}  // namespace engine
