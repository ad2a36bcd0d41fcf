#pragma once
// One data core's rings of a memif.

#include <atomic>

#include "base/raw_bytes.h"
#include "base/record_ring.h"
#include "io/memif/control.h"
#include "io/memif/waker.h"
#include "io/port.h"
#include "net/send_heads.h"

namespace engine::memif {

/// The peer may write to the shared memory at any time. So a descriptor is read once, what it names
/// is looked for before it is touched, and whatever is parsed of a received frame is copied before:
/// all of it, but payload of TCP segments, which stays where it is unless somebody reads it.
class Queue final : public PortQueue {
 public:
  /// Throws std::system_error: a Waker cannot be had.
  Queue(const Link& link, uint32_t number);

  std::span<const Frame> receive() override;
  void release() override;
  size_t send_waiting() override;
  /// Has payload copied as well, or no more. For the control thread, with `receive` on another one.
  void copy_payload(bool enabled) { reads_payload_.store(enabled, std::memory_order_relaxed); }
  BufferPool buffers() const override;

 private:
  /// One direction, as this end goes on in it.
  struct RingCursor {
    Ring ring;
    Descriptor* descriptors = nullptr;
    uint16_t mask = 0;
    uint16_t next = 0;       ///< position of the next frame, or of the next room
    uint16_t published = 0;  ///< the peer knows that what was before is done with
    uint16_t peer = 0;       ///< the end of what there is, as it was read last
  };

  /// Takes over what the link has now.
  void follow();
  bool find(Frame& frame);
  uint8_t* use(size_t length);
  void take_copy(Frame& frame, bool reads_payload);
  bool join(Frame& frame, uint32_t& slots);
  void send(std::span<Frame> frames) override;
  void refill(Frame& slot) override { heads_.refill(slot); }
  /// Writes as many of `frames` as there is room for, and tells the peer. Returns how many.
  size_t hand_over(std::span<const Frame> frames);
  struct Room {
    uint8_t* to;
    uint32_t size;
  };
  uint32_t known_slots() const;
  uint32_t free_slots(uint32_t wanted);
  Room room_at(uint16_t position) const;
  void fetch_ahead() const;
  bool write(const Frame& frame);
  bool write_in_parts(const Frame& frame);
  void tell(uint16_t position, size_t length, uint16_t flags);
  void publish();
  void hold(std::span<const Frame> frames);
  void lose(Drop reason, size_t frames);

  const Link& link_;
  const uint32_t number_;
  const bool server_;
  const uint32_t buffer_bytes_;  ///< of a client's buffers
  uint64_t version_ = 0;
  std::shared_ptr<Memory> memory_;
  RingCursor rx_;
  RingCursor tx_;
  std::array<Frame, TransmitQueue::kBurst> frames_;
  RawBytes copies_;    ///< of the frames of one burst; empty without a peer
  size_t copied_ = 0;  ///< bytes used of them
  std::atomic<bool> reads_payload_ = false;
  SendHeads heads_;
  Waker waker_;
  RecordRing<Frame> waiting_{size_t{8} << 20};
  size_t waiting_count_ = 0;
};

}  // namespace engine::memif
