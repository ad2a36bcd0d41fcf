#pragma once
// What stands between a data core and one of its ports: who looks at frames, and what impairs them.

#include <array>
#include <memory>
#include <span>
#include <vector>

#include "capture/frame_copier.h"
#include "impairment/impairment.h"
#include "io/clock.h"
#include "io/port.h"
#include "net/tunnel_end.h"

namespace engine {

/// Looks at the frames that a port sends and receives on one data core. Stands before a port's
/// device and has all that passes it looked at. A port without a CaptureTap has none: looking costs
/// nothing when nobody looks.
class PortTap final : public FrameCopier, public TransmitDevice {
 public:
  PortTap(uint32_t port, const Clock& clock) : FrameCopier(port), clock_(clock) {}

  /// Frames to send are seen, and go on to `device`.
  void stand_before(TransmitDevice& device) { device_ = &device; }
  void send(std::span<Frame> frames) override;
  void refill(Frame& slot) override { device_->refill(slot); }

  void received(std::span<const Frame> frames);

 private:
  const Clock& clock_;
  TransmitDevice* device_ = nullptr;  ///< where frames go when they have been seen
};

/// Frames to send go into their tunnels, through the impairment, past the tap, into the port's
/// queue; those received past the tap, through the impairment, out of their tunnels, to the core:
/// the tap sees what is on the wire. Nothing of
/// this is there until it is asked for, and a burst then pays one branch that is never taken.
class PortChain : private TransmitDevice {
 public:
  PortChain(const Clock& clock, PortQueue& queue);

  PortQueue& queue() { return queue_; }

  // -- data path, as PortQueue has it
  // ---------------------------------------------------------------------

  std::span<const Frame> receive() {
    const std::span<const Frame> frames = queue_.receive();
    return in_use_ ? arrive(frames) : frames;
  }
  void release() {
    queue_.release();
    if (impairs_received_) [[unlikely]]
      of(Direction::receive).line().release();
  }
  void flush() {
    queue_.transmit().flush();
    if (in_use_) [[unlikely]]
      finish_pass();
  }

  // -- for jobs
  // -------------------------------------------------------------------------------------------

  /// nullptr: nobody looks. Read by the control thread between jobs.
  PortTap* tap() const { return tap_.get(); }
  /// Returns the tap until now.
  std::unique_ptr<PortTap> set_tap(std::unique_ptr<PortTap> tap);

  /// Impairs one direction from now on.
  void impair(Direction direction, const ImpairmentSettings& settings);
  ImpairmentCounts impairment_counts(Direction direction) const;

  /// nullptr: the port has no tunnels.
  TunnelEnd* tunnels() const { return tunnels_.get(); }
  /// Returns the end of tunnels until now.
  std::unique_ptr<TunnelEnd> set_tunnels(std::unique_ptr<TunnelEnd> tunnels);
  /// What `fill` puts into the transmit queue is sent without tunnels.
  template <typename Fill>
  void send_as_it_is(Fill fill) {
    TransmitQueue& transmit = queue_.transmit();
    transmit.flush();
    TransmitDevice& first = transmit.redirect(*behind_tunnels_);
    fill(transmit);
    transmit.flush();
    transmit.redirect(first);
  }

 private:
  /// Puts frames to send into tunnels.
  struct Entrance final : TransmitDevice {
    explicit Entrance(PortChain& chain) : chain_(chain) {}
    void send(std::span<Frame> frames) override;
    void refill(Frame& slot) override { chain_.behind_tunnels_->refill(slot); }
    PortChain& chain_;
  };
  using Impairments = std::array<Impairment, kDirections>;

  Impairment& of(Direction direction) { return (*impairments_)[static_cast<size_t>(direction)]; }
  std::span<const Frame> arrive(std::span<const Frame> frames);
  std::span<const Frame> impaired(std::span<const Frame> frames);
  std::span<const Frame> out_of_tunnels(std::span<const Frame> frames);
  /// Impairs frames to send.
  void send(std::span<Frame> frames) override;
  void refill(Frame& slot) override { behind_impairment_->refill(slot); }
  void send_due();
  void finish_pass();
  void link();

  const Clock& clock_;
  PortQueue& queue_;
  TransmitDevice& device_;         ///< the port's own
  const DeviceOffloads offloads_;  ///< what that does
  TransmitDevice* behind_impairment_ = nullptr;
  TransmitDevice* behind_tunnels_;
  Entrance entrance_{*this};
  std::unique_ptr<PortTap> tap_;
  std::unique_ptr<Impairments> impairments_;
  std::unique_ptr<TunnelEnd> tunnels_;
  bool in_use_ = false;
  bool impairs_sent_ = false;
  bool impairs_received_ = false;
  std::vector<Frame> arrived_;
  std::vector<Frame> unpacked_;
  uint64_t carried_ = 0;  ///< number of frames sent on the port with the last one from the line
};

}  // namespace engine
