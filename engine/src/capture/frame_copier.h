#pragma once
// Which of the frames that pass a port are copied for whom, and the ring on which the copies go
// from a data thread to the control thread.

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/record_ring.h"
#include "base/time.h"
#include "capture/packet_filter.h"
#include "net/frame.h"

namespace engine {

/// What was seen of one frame at a port.
struct SeenFrame {
  Nanoseconds time = 0;
  uint64_t taps = 0;  ///< bit n: tap n asked for it
  uint32_t port = 0;
  bool transmitted = false;
  uint32_t wire_length = 0;        ///< of the whole frame, without FCS
  std::span<const uint8_t> bytes;  ///< its beginning, as much as the taps want
};

/// What one observer wants to see at a port.
struct CaptureTap {
  uint32_t number = 0;  ///< its bit in SeenFrame::taps, below 64
  bool received = false;
  bool transmitted = false;
  PacketFilter filter;
  uint32_t snap_length = 0;      ///< bytes wanted of each frame; 0: all
  uint64_t budget = UINT64_MAX;  ///< frames it wants on this core, then no more
};

/// Copies the frames of one port on one data core that its taps ask for into a ring. The writing
/// side is the data thread's, the ring's other end and `take_lost` the control thread's. It knows
/// no device and reads no clock.
class FrameCopier {
 public:
  static constexpr size_t kRingBytes = size_t{4} << 20;

  explicit FrameCopier(uint32_t port) : port_(port) {}

  void add(const CaptureTap& tap);
  void remove(uint32_t number);
  /// Nobody looks.
  bool idle() const { return taps_.empty(); }

  /// One frame passes the port at `now`.
  void see(const Frame& frame, bool transmitted, Nanoseconds now);

  RecordRing<SeenFrame>& ring() { return ring_; }
  uint32_t port() const { return port_; }
  /// Frames that were asked for and found the ring full, since the last call.
  uint64_t take_lost() { return lost_.exchange(0, std::memory_order_relaxed); }

 private:
  std::span<const uint8_t> in_one_piece(const Frame& frame);

  /// Longer ones do not exist: an IP packet of 65,535 bytes and its Ethernet header.
  static constexpr size_t kLongestFrame = 65535 + 18;

  const uint32_t port_;
  std::vector<CaptureTap> taps_;
  std::array<uint8_t, kLongestFrame> whole_;
  RecordRing<SeenFrame> ring_{kRingBytes};
  std::atomic<uint64_t> lost_ = 0;
};

}  // namespace engine
