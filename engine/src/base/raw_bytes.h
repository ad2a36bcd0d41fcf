#pragma once
// Bytes that are written before they are read.

#include <cstdint>
#include <memory>
#include <new>
#include <type_traits>
#include <vector>

namespace engine {

/// Leaves new elements as the memory was, where std::allocator would have them zero.
template <class T>
struct LeavingAllocator : std::allocator<T> {
  static_assert(std::is_trivially_default_constructible_v<T>);
  template <class U>
  void construct(U* place) noexcept {
    ::new (static_cast<void*>(place)) U;
  }
};

using RawBytes = std::vector<uint8_t, LeavingAllocator<uint8_t>>;

}  // namespace engine
