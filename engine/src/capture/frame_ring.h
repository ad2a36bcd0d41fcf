#pragma once
// Copies of frames on their way from a data thread to the control thread.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>

#include "base/record_ring.h"
#include "base/time.h"

namespace engine {

/// What was seen of one frame at a port.
struct SeenFrame {
  Nanoseconds time = 0;
  uint64_t watches = 0;  ///< bit n: watch n asked for it
  uint32_t port = 0;
  bool transmitted = false;
  uint32_t wire_length = 0;        ///< of the whole frame, without FCS
  std::span<const uint8_t> bytes;  ///< its beginning, as much as the watches want
};

/// One writer, one reader, no lock. A frame that finds no room is not waited for.
class FrameRing {
 public:
  static constexpr size_t kBytes = size_t{4} << 20;

  /// Room for `length` bytes (at most a quarter of the ring), nullptr when there is none now.
  uint8_t* reserve(size_t length);
  /// Publishes what was written to the room reserved last. `seen.bytes` says how much of it counts.
  void commit(const SeenFrame& seen);

  /// Hands over all that is there now, oldest first; `bytes` live until `take` returns. What is
  /// written meanwhile waits, or a fast writer would keep the reader for ever. A frame that `take`
  /// throws at is read as well, those behind it stay.
  void read(const std::function<void(const SeenFrame&)>& take);

 private:
  RecordRing<SeenFrame, kBytes> ring_;
  const uint8_t* reserved_ = nullptr;
};

}  // namespace engine
