#pragma once
// One data core's rings of a memif.

#include "base/raw_bytes.h"
#include "base/record_ring.h"
#include "io/memif/control.h"
#include "io/port.h"
#include "net/send_heads.h"

namespace engine::memif {

/// Received frames lie in the shared memory and are read there; frames to send are written there.
/// The peer may write to that memory at any time, so a descriptor is read once, and what it names
/// is looked for before it is touched.
class Queue final : public PortQueue {
 public:
  Queue(const Link& link, uint32_t number);

  std::span<const Frame> receive() override;
  void release() override;
  size_t send_waiting() override;
  BufferPool buffers() const override;

 private:
  /// One direction, as this end goes on in it.
  struct Place {
    Ring ring;
    Descriptor* descriptors = nullptr;
    uint16_t mask = 0;
    uint16_t next = 0;  ///< position of the next frame, or of the next room
    uint16_t told = 0;  ///< the peer knows that what was before is done with
    uint16_t seen = 0;  ///< the end of what there is, as it was read last
  };

  /// Takes over what the link has now.
  void follow();
  bool read(Frame& frame);
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
  Place rx_;
  Place tx_;
  std::array<Frame, TransmitQueue::kBurst> frames_;
  std::vector<RawBytes> joined_;  ///< frames in several buffers, put together
  size_t joins_ = 0;
  SendHeads heads_;
  RecordRing<Frame, 8u << 20> waiting_;
  size_t waiting_count_ = 0;
};

}  // namespace engine::memif
