#pragma once
// Ports without a device: an in-memory wire that joins the two ports of a pair, on every data core
// by itself, and the port of a side that is not used.

#include <vector>

#include "base/side.h"
#include "io/port.h"
#include "net/send_heads.h"

namespace engine {

/// Frames on their way in one direction. One thread plays both ends: nothing here is shared.
class WireRing {
 public:
  static constexpr size_t kSlots = 8192;

  WireRing();

  /// Takes the heads of `frames`, as many as there is room for, and leaves them spare ones; payload
  /// stays where it is, unless it passes (Frame::passing).
  struct Pushed {
    size_t frames;
    uint64_t bytes;
  };
  Pushed push(std::span<Frame> frames);
  uint32_t free() const { return static_cast<uint32_t>(kSlots - count_); }
  /// The next frames, at most `most`, in one piece.
  std::span<const Frame> front(size_t most) const;
  /// Takes out the first `count` frames; their heads become spare.
  void pop(size_t count);
  size_t size() const { return count_; }
  /// Bytes of all frames in the ring, or `bytes` of them, that were not taken before.
  uint64_t take_bytes() { return std::exchange(pushed_bytes_, 0); }
  uint64_t take_bytes(uint64_t bytes) {
    pushed_bytes_ -= bytes;
    return bytes;
  }

 private:
  void keep(Frame& slot);

  std::unique_ptr<Frame[]> slots_;
  std::unique_ptr<uint8_t[]> heads_;
  std::vector<std::vector<uint8_t>> kept_;  ///< by slot: payload that passes; empty without any
  size_t first_ = 0;
  size_t count_ = 0;
  uint64_t pushed_bytes_ = 0;  ///< of frames that take_bytes was not asked for
};

/// One end of the wire on one data core.
class WireQueue final : public PortQueue {
 public:
  WireQueue();
  /// Joins two ends; before either is used.
  static void join(WireQueue& left, WireQueue& right);

  std::span<const Frame> receive() override;
  void release() override;
  uint64_t payload_released() const override { return counters_.opackets - peer_->inbound_.size(); }
  BufferPool buffers() const override {
    return {kHeadRoom, WireRing::kSlots, inbound_.free(), WireRing::kSlots * kHeadRoom};
  }

 private:
  void send(std::span<Frame> frames) override;
  void refill(Frame& slot) override { heads_.refill(slot); }
  /// Frames at the end of their way: one, or as many as come where all are for this port. Returns
  /// those that found room.
  WireRing::Pushed arrive(std::span<Frame> frames);

  WireQueue* peer_ = nullptr;
  WireRing inbound_;
  size_t received_ = 0;  ///< frames out with the core
  SendHeads heads_;
};

/// The two ports of a pair; `first` is the number of the even one.
std::array<std::unique_ptr<Port>, kSides> make_wire(uint32_t first, uint32_t cores);

/// A port that takes every frame and delivers none. `port`: its number; `cores`: data cores that
/// serve it.
std::unique_ptr<Port> make_dummy_port(uint32_t port, uint32_t cores);

}  // namespace engine
