#pragma once
// Frames that arrive on one core of a port and belong to a flow of another one. They are few where
// a NIC spreads frames as net/steering.h does, and most where a device has another way or none.

#include <array>
#include <memory>
#include <span>

#include "astf/table_counts.h"
#include "base/record_ring.h"
#include "base/side.h"
#include "net/copied_frame.h"
#include "net/frame.h"
#include "net/steering.h"

namespace engine {

/// Frames on their way from one core to another, copied, in order. One thread gives, one takes.
class ExchangeRing {
 public:
  static constexpr size_t kBytes = 1u << 20;  ///< of at least four of the longest frames

  /// False: there is no room for it now.
  bool push(const Frame& frame) { return push_copy(ring_, frame); }
  /// The next frames, at most TransmitQueue::kBurst; they live until `release`.
  std::span<const Frame> front();
  void release() { ring_.release(); }

 private:
  RecordRing<Frame> ring_{kBytes};
  std::array<Frame, TransmitQueue::kBurst> frames_;
};

/// The rings between all cores of a pair of ports.
class ExchangeRings {
 public:
  explicit ExchangeRings(uint32_t cores)
      : cores_(cores), rings_(new ExchangeRing[size_t{kSides} * cores * cores]) {}

  ExchangeRing& between(Side side, uint32_t from, uint32_t to) {
    return rings_[(index_of(side) * cores_ + from) * cores_ + to];
  }

 private:
  uint32_t cores_;
  std::unique_ptr<ExchangeRing[]> rings_;
};

/// One core's part. Used by its thread alone.
class FrameExchange {
 public:
  /// `core` of `steering`'s cores.
  FrameExchange(std::shared_ptr<ExchangeRings> rings, uint32_t core, const Steering& steering)
      : rings_(std::move(rings)), core_(core), steering_(steering) {}

  /// Gives frames of other cores' flows to those. Returns this core's, and those of no flow, until
  /// the next call. `frames`: at most TransmitQueue::kBurst.
  std::span<const Frame> sort(Side side, std::span<const Frame> frames);

  /// Calls `receive` with what other cores gave to this one. Returns how many frames.
  template <typename Receive>
  size_t take(Side side, Receive receive) {
    size_t count = 0;
    for (uint32_t from = 0; from < steering_.cores(); ++from) {
      ExchangeRing& ring = rings_->between(side, from, core_);
      const std::span<const Frame> frames = ring.front();
      if (frames.empty()) continue;
      receive(frames);
      count += frames.size();
      ring.release();
    }
    counts_.of(side)[Counter::rss_redirect_rx] += count;
    return count;
  }

  /// Counters rss_redirect_* of the flow table, and drops.
  const TableCounts& counts() const { return counts_; }

 private:
  std::shared_ptr<ExchangeRings> rings_;
  uint32_t core_;
  Steering steering_;
  TableCounts counts_;
  std::array<Frame, TransmitQueue::kBurst> own_;
};

}  // namespace engine
