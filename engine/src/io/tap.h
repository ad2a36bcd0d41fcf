#pragma once
// Looking at the frames that a port sends and receives on one data core.

#include "capture/frame_copier.h"

namespace engine {

class Clock;

/// Stands before a port's device and has all that passes it looked at. A port without a watch has
/// no tap: looking costs nothing when nobody looks.
class Tap final : public FrameCopier, public TransmitDevice {
 public:
  Tap(uint32_t port, const Clock& clock) : FrameCopier(port), clock_(clock) {}

  /// Frames to send are seen, and go on to `device`.
  void stand_before(TransmitDevice& device) { device_ = &device; }
  void send(std::span<Frame> frames) override;
  void refill(Frame& slot) override { device_->refill(slot); }

  void received(std::span<const Frame> frames);

 private:
  const Clock& clock_;
  TransmitDevice* device_ = nullptr;  ///< where frames go when they have been seen
};

}  // namespace engine
