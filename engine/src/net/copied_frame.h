#pragma once
// Frames that outlive the buffers they came in.

#include <cstring>

#include "base/record_ring.h"
#include "net/frame.h"

namespace engine {

/// Bytes of a frame that there are to copy.
inline size_t copied_length(const Frame& frame) {
  return frame.head_length + (frame.payload == nullptr ? size_t{0} : frame.payload_length);
}

/// A copy of `frame` in `room` of its `copied_length`, its payload behind its head.
inline Frame copy_to(uint8_t* room, const Frame& frame) {
  Frame copy = frame;
  copy.head = room;
  std::memcpy(room, frame.head, frame.head_length);
  if (frame.payload != nullptr) {
    std::memcpy(room + frame.head_length, frame.payload, frame.payload_length);
    copy.payload = room + frame.head_length;
  }
  return copy;
}

/// Copies a frame into the ring. False: there is no room for it now.
inline bool push_copy(RecordRing<Frame>& ring, const Frame& frame) {
  uint8_t* const room = ring.reserve(copied_length(frame));
  if (room == nullptr) return false;
  ring.commit(copy_to(room, frame));
  return true;
}

}  // namespace engine
