#include "capture/frame_ring.h"

namespace engine {

uint8_t* FrameRing::reserve(size_t length) {
  uint8_t* const room = ring_.reserve(length);
  reserved_ = room;
  return room;
}

void FrameRing::commit(const SeenFrame& seen) {
  SeenFrame record = seen;
  record.bytes = {reserved_, seen.bytes.size()};
  ring_.commit(record);
}

void FrameRing::read(const std::function<void(const SeenFrame&)>& take) {
  const uint64_t end = ring_.end();
  while (const SeenFrame* const seen = ring_.next(end)) {
    try {
      take(*seen);
    } catch (...) {
      ring_.release();
      throw;
    }
    ring_.release();
  }
}

}  // namespace engine
