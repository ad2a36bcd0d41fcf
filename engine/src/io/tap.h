#pragma once
// Looking at the frames that a port sends and receives on one data core.

#include "capture/frame_copier.h"

namespace engine {

class Clock;

/// Stands before a port's device and has all that passes it looked at. A port without a watch has
/// no tap: looking costs nothing when nobody looks.
class Tap : public FrameCopier {
 public:
  Tap(uint32_t port, const Clock& clock) : FrameCopier(port), clock_(clock) {}

  /// What to put in the place of `device` so that frames sent are seen on their way there.
  TransmitQueue::Device before(TransmitQueue::Device device);

  void received(std::span<const Frame> frames);

 private:
  static void sent(void* self, std::span<Frame> frames);

  const Clock& clock_;
  TransmitQueue::Device device_;  ///< where frames go when they have been seen
};

}  // namespace engine
