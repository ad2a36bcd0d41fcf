#include "net/frame.h"

namespace engine {

TransmitQueue::TransmitQueue(Drain drain, void* device, DeviceOffloads offloads)
    : device_{drain, device}, offloads_(offloads) {
  device_.drain(device_.device, {slots_, kBurst});
}

void TransmitQueue::flush() {
  if (count_ == 0) return;
  device_.drain(device_.device, {slots_, count_});
  count_ = 0;
}

Frame* TransmitQueue::refill_slot() {
  Frame& slot = slots_[count_];
  slot = Frame{};
  device_.drain(device_.device, {&slot, 1});
  if (slot.head != nullptr) return &slot;
  ++without_buffer_;
  return nullptr;
}

}  // namespace engine
