#pragma once
// Memory for the heads of frames to send, of a queue whose device has done with them when it has
// sent them.

#include <array>

#include "net/frame.h"

namespace engine {

/// A head for each slot of a transmit queue: a slot gets it once, and keeps it.
class SendHeads {
 public:
  void refill(Frame& slot) { slot.head = heads_.at(used_++).data(); }

 private:
  std::array<std::array<uint8_t, kHeadRoom>, TransmitQueue::kBurst> heads_;
  size_t used_ = 0;
};

}  // namespace engine
