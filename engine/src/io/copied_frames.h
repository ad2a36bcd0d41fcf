#pragma once
// Frames that outlive the buffers they came in: copied into a ring.

#include <cstring>

#include "base/record_ring.h"
#include "net/frame.h"

namespace engine {

/// Copies a frame into the ring, its payload behind its head. False: there is no room for it now.
template <size_t kBytes>
bool push_copy(RecordRing<Frame, kBytes>& ring, const Frame& frame) {
  const size_t payload = frame.payload == nullptr ? 0 : frame.payload_length;
  uint8_t* const room = ring.reserve(frame.head_length + payload);
  if (room == nullptr) return false;
  Frame copy = frame;
  copy.head = room;
  std::memcpy(room, frame.head, frame.head_length);
  if (payload != 0) {
    std::memcpy(room + frame.head_length, frame.payload, payload);
    copy.payload = room + frame.head_length;
  }
  ring.commit(copy);
  return true;
}

}  // namespace engine
