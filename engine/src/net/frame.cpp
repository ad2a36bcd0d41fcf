#include "net/frame.h"

namespace engine {

void TransmitQueue::flush() {
  if (next_ == slots_) return;
  device_->send({slots_, next_});
  next_ = slots_;
}

Frame* TransmitQueue::make_room() {
  if (next_ == slots_ + kBurst) {
    flush();
    if (next_->head != nullptr) return next_;
  }
  Frame& slot = *next_;
  slot = Frame{};
  device_->refill(slot);
  if (slot.head != nullptr) return &slot;
  ++without_buffer_;
  return nullptr;
}

}  // namespace engine
