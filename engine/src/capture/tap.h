#pragma once
// Looking at the frames that a port sends and receives on one data core.

#include <array>
#include <atomic>
#include <vector>

#include "capture/frame_ring.h"
#include "capture/packet_filter.h"
#include "net/frame.h"

namespace engine {

class Clock;

/// What one observer wants to see at a port.
struct Watch {
  uint32_t number = 0;  ///< its bit in SeenFrame::watches, below 64
  bool received = false;
  bool transmitted = false;
  PacketFilter filter;
  uint32_t snap_length = 0;      ///< bytes wanted of each frame; 0: all
  uint64_t budget = UINT64_MAX;  ///< frames it wants on this core, then no more
};

/// Copies what the watches ask for into a ring. Used by the data thread alone, the ring's other end
/// by the control thread. A port without a watch has no tap: looking costs nothing when nobody
/// looks.
class Tap {
 public:
  Tap(uint32_t port, const Clock& clock) : port_(port), clock_(clock) {}

  /// What to put in the place of `device` so that frames sent are seen on their way there.
  TransmitQueue::Device before(TransmitQueue::Device device);

  void add(const Watch& watch);
  void remove(uint32_t number);
  bool idle() const { return watches_.empty(); }

  void received(std::span<const Frame> frames);

  FrameRing& ring() { return ring_; }
  uint32_t port() const { return port_; }
  /// Frames that were asked for and found the ring full, since the last call.
  uint64_t take_lost() { return lost_.exchange(0, std::memory_order_relaxed); }

 private:
  static void sent(void* self, std::span<Frame> frames);
  void see(const Frame& frame, bool transmitted, Nanoseconds now);
  std::span<const uint8_t> in_one_piece(const Frame& frame);

  /// Longer ones do not exist: an IP packet of 65,535 bytes and its Ethernet header.
  static constexpr size_t kLongestFrame = 65535 + 18;

  const uint32_t port_;
  const Clock& clock_;
  TransmitQueue::Device device_;  ///< where frames go when they have been seen
  std::vector<Watch> watches_;
  std::array<uint8_t, kLongestFrame> whole_;
  FrameRing ring_;
  std::atomic<uint64_t> lost_ = 0;
};

}  // namespace engine
