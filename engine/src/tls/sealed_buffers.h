#pragma once
// Coded bytes on their way: kept until the peer has acknowledged them.

#include <cstdint>
#include <deque>
#include <span>
#include <vector>

#include "base/time.h"
#include "flow/buffer.h"

namespace engine::tls {

/// Buffers of two sizes, in a list that TCP sends from. Their memory is allocated when it is first
/// used, then used again, and never freed before the end, as frames may refer to it. So each size
/// has a budget of its own: memory of one is none for the other. Who wants to send much asks first
/// whether there is room; what has to leave anyway, as an alert, may overdraw the budget.
class SealedBuffers {
 public:
  static constexpr uint32_t kSmall = 2048;   ///< bytes: a flight without certificate, a request
  static constexpr uint32_t kLarge = 17408;  ///< bytes: a longest record (RFC 8446 section 5.2)

  /// `budget`: bytes of each size at most.
  explicit SealedBuffers(int64_t budget) : budget_(budget), left_{budget, budget} {}

  /// For FlowClass::buffers.
  const std::vector<Buffer>& all() const { return buffers_; }
  /// Whether there is room for so many buffers of the large size, the last of which may be a small
  /// one.
  bool has_room(uint64_t count) const { return room(kLargeSize) >= count && room(kSmallSize) > 0; }
  /// Keeps a copy of `bytes`, kLarge at most. Returns the buffer's number.
  uint32_t keep(std::span<const uint8_t> bytes, Nanoseconds now);
  /// Nothing will be sent from it any more.
  void release(uint32_t number, Nanoseconds now);

  uint64_t in_use() const { return in_use_; }  ///< buffers
  uint64_t held_bytes() const {
    return static_cast<uint64_t>(2 * budget_ - left_[kSmallSize] - left_[kLargeSize]);
  }

 private:
  enum Size : uint8_t { kSmallSize, kLargeSize };
  static constexpr uint32_t bytes_of(Size size) { return size == kLargeSize ? kLarge : kSmall; }
  struct Free {
    uint32_t number;
    Nanoseconds since;
  };
  /// Buffers of that size that are free or not made yet.
  uint64_t room(Size size) const {
    const uint64_t fresh =
        left_[size] > 0 ? static_cast<uint64_t>(left_[size]) / bytes_of(size) : 0;
    return fresh + free_[size].size();
  }
  uint32_t take(Size size, Nanoseconds now);

  int64_t budget_;
  int64_t left_[2];  ///< by Size
  uint64_t in_use_ = 0;
  std::vector<Buffer> buffers_;
  std::vector<Size> sizes_;
  std::deque<Free> free_[2];  ///< by Size, the longest free first
};

}  // namespace engine::tls
