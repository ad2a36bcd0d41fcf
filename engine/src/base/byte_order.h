#pragma once
// Big-endian integers in unaligned memory.

#include <bit>
#include <cstdint>
#include <cstring>

namespace engine {

inline uint16_t byteswap(uint16_t value) {
  return __builtin_bswap16(value);
}
inline uint32_t byteswap(uint32_t value) {
  return __builtin_bswap32(value);
}
inline uint64_t byteswap(uint64_t value) {
  return __builtin_bswap64(value);
}

/// Reads a big-endian integer from unaligned memory.
template <typename T>
inline T load_be(const void* from) {
  T value;
  std::memcpy(&value, from, sizeof value);
  if constexpr (sizeof(T) == 1 || std::endian::native == std::endian::big)
    return value;
  else
    return byteswap(value);
}

/// Writes a big-endian integer to unaligned memory.
template <typename T>
inline void store_be(void* to, T value) {
  if constexpr (sizeof(T) > 1 && std::endian::native == std::endian::little)
    value = byteswap(value);
  std::memcpy(to, &value, sizeof value);
}

}  // namespace engine
