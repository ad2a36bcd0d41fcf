#pragma once
// Coded bytes on their way: kept until the peer has acknowledged them.

#include <cstdint>
#include <deque>
#include <span>
#include <vector>

#include "base/time.h"
#include "flow/buffer.h"

namespace engine::tls {

/// Buffers of two sizes from one budget, in a list that TCP sends from. Their memory is allocated
/// when it is first used, then used again, and never freed before the end. Who wants to send much
/// asks first whether there is room; what has to leave anyway, as an alert, may overdraw the
/// budget.
class SealedBuffers {
 public:
  static constexpr uint32_t kSmall = 2048;   ///< bytes: a flight without certificate, a request
  static constexpr uint32_t kLarge = 17408;  ///< bytes: a longest record (RFC 8446 section 5.2)

  /// `budget`: bytes at most.
  explicit SealedBuffers(int64_t budget) : budget_(budget), left_(budget) {}

  /// For FlowClass::buffers.
  const std::vector<Buffer>& all() const { return buffers_; }
  /// Whether there is room for so many buffers of the large size.
  bool has_room(uint64_t count) const {
    const uint64_t fresh = left_ > 0 ? static_cast<uint64_t>(left_) / kLarge : 0;
    return fresh + free_[kLargeSize].size() >= count;
  }
  /// Keeps a copy of `bytes`, kLarge at most. Returns the buffer's number.
  uint32_t keep(std::span<const uint8_t> bytes, Nanoseconds now);
  /// Nothing will be sent from it any more.
  void release(uint32_t number, Nanoseconds now);

  uint64_t in_use() const { return in_use_; }  ///< buffers
  uint64_t held_bytes() const { return static_cast<uint64_t>(budget_ - left_); }

 private:
  enum Size : uint8_t { kSmallSize, kLargeSize };
  struct Free {
    uint32_t number;
    Nanoseconds since;
  };
  uint32_t take(Size size, Nanoseconds now);

  int64_t budget_;
  int64_t left_;
  uint64_t in_use_ = 0;
  std::vector<Buffer> buffers_;
  std::vector<Size> sizes_;
  std::deque<Free> free_[2];  ///< by Size, the longest free first
};

}  // namespace engine::tls
