#pragma once
// Which template answers a first packet: by protocol, destination port and address range.

#include <cstddef>
#include <cstdint>
#include <vector>

#include "astf/profile.h"

namespace engine {

/// Templates that listen on one data core, of all running profiles.
class ServerTable {
 public:
  /// Adds template `handle` (the core's own number for it). Throws ProfileError when another
  /// template already answers this protocol, port and an overlapping range, naming port and range.
  void add(bool tcp, uint16_t port, uint32_t first, uint32_t last, uint32_t handle);
  /// Removes everything added under `handle`.
  void remove(uint32_t handle);

  static constexpr uint32_t kNone = UINT32_MAX;
  /// The handle that answers, or kNone. `address`: low 32 bits of the destination.
  uint32_t find(bool tcp, uint16_t port, uint32_t address) const {
    const uint32_t list = list_of_port_[key(tcp, port)];
    for (const Entry& entry : lists_[list])
      if (address <= entry.last) return address >= entry.first ? entry.handle : kNone;
    return kNone;
  }

 private:
  struct Entry {
    uint32_t first;
    uint32_t last;
    uint32_t handle;
  };
  static constexpr size_t key(bool tcp, uint16_t port) { return (size_t{tcp} << 16) | port; }

  std::vector<uint32_t> list_of_port_ = std::vector<uint32_t>(1u << 17);  ///< index into lists_
  std::vector<std::vector<Entry>> lists_ = {{}};  ///< sorted by address; the first one stays empty
};

}  // namespace engine
