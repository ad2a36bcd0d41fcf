#include "net/frame.h"

namespace engine {

TransmitQueue::TransmitQueue(Drain drain, void* device, DeviceOffloads offloads)
    : drain_(drain), device_(device), offloads_(offloads) {
  drain_(device_, {slots_, kBurst});
}

void TransmitQueue::flush() {
  if (count_ == 0) return;
  drain_(device_, {slots_, count_});
  count_ = 0;
}

Frame* TransmitQueue::refill_slot() {
  Frame& slot = slots_[count_];
  slot = Frame{};
  drain_(device_, {&slot, 1});
  return slot.head == nullptr ? nullptr : &slot;
}

}  // namespace engine
