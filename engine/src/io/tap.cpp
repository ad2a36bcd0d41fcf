#include "io/tap.h"

#include "io/clock.h"

namespace engine {

TransmitQueue::Device Tap::before(TransmitQueue::Device device) {
  device_ = device;
  return {sent, this};
}

void Tap::received(std::span<const Frame> frames) {
  const Nanoseconds now = clock_.now();
  for (const Frame& frame : frames) see(frame, false, now);
}

void Tap::sent(void* self, std::span<Frame> frames) {
  Tap& tap = *static_cast<Tap*>(self);
  const Nanoseconds now = tap.clock_.now();
  for (const Frame& frame : frames)
    if (frame.head != nullptr) tap.see(frame, true, now);
  tap.device_.drain(tap.device_.device, frames);
}

}  // namespace engine
