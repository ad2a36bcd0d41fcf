#include "net/frame.h"

namespace engine {

void TransmitQueue::flush() {
  if (count_ == 0) return;
  device_->send({slots_, count_});
  count_ = 0;
}

Frame* TransmitQueue::refill_slot() {
  Frame& slot = slots_[count_];
  slot = Frame{};
  device_->refill(slot);
  if (slot.head != nullptr) return &slot;
  ++without_buffer_;
  return nullptr;
}

}  // namespace engine
