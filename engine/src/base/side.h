#pragma once
#include <cstddef>
#include <cstdint>

namespace engine {

/// The two ports of a pair: even ports are clients, odd ones servers (TRex ASTF).
enum class Side : uint8_t { client = 0, server = 1 };
inline constexpr size_t kSides = 2;
constexpr size_t index_of(Side side) {
  return static_cast<size_t>(side);
}

}  // namespace engine
