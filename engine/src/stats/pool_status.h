#pragma once
// Memory in use.

#include <cstdint>

namespace engine {

/// Memory of one kind of object.
struct PoolStatus {
  const char* name;
  uint64_t object_bytes;
  uint64_t in_use;
  uint64_t reserved_bytes;

  /// Of another core.
  PoolStatus& operator+=(const PoolStatus& other) {
    in_use += other.in_use;
    reserved_bytes += other.reserved_bytes;
    return *this;
  }
};

}  // namespace engine
