#pragma once
// The memory that two ends of a memif share, and the rings in it.

#include <array>
#include <cstddef>
#include <memory>
#include <stdexcept>
#include <vector>

#include "io/memif/protocol.h"

namespace engine::memif {

/// What a peer asked for and cannot have: the reason that it is told.
struct Refused : std::runtime_error {
  using std::runtime_error::runtime_error;
};

enum class Way : uint8_t { to_server, to_client };
inline constexpr size_t kWays = 2;

/// Frames of one queue in one direction. The peer may write to it at any time.
struct Ring {
  RingHeader* header = nullptr;  ///< nullptr: there is no such ring
  uint32_t size = 0;             ///< descriptors, a power of two
  int event = -1;                ///< wakes a receiver which does not poll: an eventfd, or not
  uint8_t* buffers = nullptr;    ///< in a client's memory: one for each descriptor, in order
  AddRing place{};               ///< where it lies
};

/// Files are closed and memory is unmapped at its end.
class Memory {
 public:
  Memory() = default;
  ~Memory();
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;

  /// A client's: `queues` rings each way of 2^ring_bits descriptors, and a buffer of `buffer_bytes`
  /// for each. Throws std::system_error when there is no such memory.
  static std::shared_ptr<Memory> make(uint32_t queues, uint32_t ring_bits, uint32_t buffer_bytes);

  // -- a server's, from what its client sends. Both take the descriptor and throw Refused.
  void add(const AddRegion& region, int file);
  void add(const AddRing& ring, int event);

  struct Region {
    int file;
    uint8_t* memory;
    uint64_t bytes;
    uint64_t mapped;
  };
  const std::vector<Region>& regions() const { return regions_; }
  const std::vector<Ring>& rings(Way way) const { return rings_[static_cast<size_t>(way)]; }
  /// The ring of a queue; one without a header where there is none.
  Ring ring(Way way, uint32_t queue) const {
    return queue < rings(way).size() ? rings(way)[queue] : Ring{};
  }
  /// What a descriptor names; nullptr: not all of it is in this memory. `length`: read once,
  /// because the peer may write to the descriptor.
  uint8_t* at(uint16_t region, uint32_t offset, uint32_t length) const {
    if (region >= regions_.size()) return nullptr;
    const Region& in = regions_[region];
    return uint64_t{offset} + length <= in.bytes ? in.memory + offset : nullptr;
  }

 private:
  void map(int file, uint64_t bytes);

  std::vector<Region> regions_;
  std::array<std::vector<Ring>, kWays> rings_;
};

}  // namespace engine::memif
