#pragma once
// Payload that is sent: by programs, described once per profile and shared by all flows; and coded
// for one flow (tls/), whose bytes are replaced once they are acknowledged.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "net/checksum.h"

namespace engine {

/// One entry of a profile's buf_list, or coded bytes: `base` bytes followed, up to `size`, by a
/// repeated `fill` or by an incrementing byte counter (0, 1, ... 255, 0 ...) when `fill` is empty.
/// Large buffers are not materialised: any span of up to kMaxSpan bytes is contiguous in what is
/// kept.
class Buffer {
 public:
  static constexpr uint32_t kMaxSpan = 65535;
  static constexpr uint32_t kMaxSize = INT32_MAX;

  /// `size` at most kMaxSize; shorter than `base`: the rest of `base` is left out.
  Buffer(std::string base, uint64_t size, std::string fill);

  /// Bytes in all; at most 2^31 - 1, so that a position fits TCP's sequence arithmetic.
  uint32_t size() const { return size_; }

  /// `length` contiguous bytes from `offset` on; length <= kMaxSpan, offset + length <= size().
  const uint8_t* at(uint32_t offset, uint32_t length) const {
    return reinterpret_cast<const uint8_t*>(kept_.data()) + position(offset, length);
  }

  /// All bytes in which `at` points.
  std::span<const uint8_t> kept() const {
    return {reinterpret_cast<const uint8_t*>(kept_.data()), kept_.size()};
  }

  /// Sum of these bytes as if the first were at an even position. Zero may come as 0xffff, which is
  /// the same number (RFC 1071 section 1). Constant time but for the edges, if the bytes are those
  /// of the constructor: these are sent many times. Replaced ones are sent once as a rule, so they
  /// are summed when they are, and not where the device or nobody wants their sum.
  ChecksumSum sum(uint32_t offset, uint32_t length) const;

  /// Puts these bytes in the place of all that it held, in the same memory where they fit.
  void replace(std::span<const uint8_t> bytes);

  /// Bytes of memory held.
  size_t memory() const;

 private:
  /// Where in kept_ the span stands.
  size_t position(uint32_t offset, uint32_t length) const {
    if (size_t{offset} + length <= kept_.size()) return offset;
    return periodic_from_ + (offset - periodic_from_) % period_;
  }
  ChecksumSum sum_before(size_t position) const;
  void add_up();

  uint32_t size_;
  uint32_t periodic_from_ = 0;  ///< from here on kept_ repeats
  uint32_t period_ = 1;         ///< bytes after which it does
  std::string kept_;            ///< the whole, or what a span can start in and kMaxSpan bytes more
  std::vector<uint16_t> sums_;  ///< sums_[i]: folded sum of kept_ before byte i * kSumBlock; empty:
                                ///< kept_ was replaced
};

}  // namespace engine
