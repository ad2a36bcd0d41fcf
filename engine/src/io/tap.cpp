#include "io/tap.h"

#include "io/clock.h"

namespace engine {

void Tap::received(std::span<const Frame> frames) {
  const Nanoseconds now = clock_.now();
  for (const Frame& frame : frames) see(frame, false, now);
}

void Tap::send(std::span<Frame> frames) {
  const Nanoseconds now = clock_.now();
  for (const Frame& frame : frames) see(frame, true, now);
  device_->send(frames);
}

}  // namespace engine
