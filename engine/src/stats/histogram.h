#pragma once
// High dynamic range histograms: log-linear buckets, so that any value is kept to a fixed relative
// precision (G. Tene's HdrHistogram; its V2 encoding is read by the libraries of that name).

#include <array>
#include <bit>
#include <cstdint>
#include <string>

namespace engine {

/// Counts of values from 0 to 2^32 - 1, each told apart to two significant figures (1 in 128, 0.8
/// %). Recording allocates nothing; 26 KB, of which only the buckets in use are ever in a cache.
class Histogram {
 public:
  static constexpr unsigned kSignificantFigures = 2;
  static constexpr uint64_t kHighest = UINT32_MAX;

  void record(uint32_t value) {
    ++counts_[index_of(value)];
    sum_ += value;
    if (value > highest_) highest_ = value;
  }

  uint64_t count() const;
  uint64_t sum() const { return sum_; }
  /// Largest value recorded, exact; 0 when there is none.
  uint32_t highest() const { return highest_; }

  Histogram& operator+=(const Histogram& other);

  /// HdrHistogram's V2 encoding, uncompressed: header, then counts as ZigZag LEB128, runs of empty
  /// buckets as one negative number (HdrHistogram, AbstractHistogram.encodeIntoByteBuffer).
  std::string encoded() const;

  /// Bucket of a value: the first 256 hold one value each, every further 128 twice as many as those
  /// before.
  static constexpr size_t index_of(uint32_t value) {
    const unsigned shift = 24 - static_cast<unsigned>(std::countl_zero(value | (kLinear - 1)));
    return shift * kHalf + (value >> shift);
  }

 private:
  static constexpr uint32_t kLinear = 256;  ///< sub-buckets: the power of two above 2 x 10^2
  static constexpr uint32_t kHalf = kLinear / 2;
  static constexpr size_t kBuckets = (32 - 8 + 2) * kHalf;

  std::array<uint64_t, kBuckets> counts_{};
  uint64_t sum_ = 0;
  uint32_t highest_ = 0;
};

static_assert(Histogram::index_of(0) == 0 && Histogram::index_of(255) == 255);
static_assert(Histogram::index_of(256) == 256 && Histogram::index_of(258) == 257);
static_assert(Histogram::index_of(UINT32_MAX) == 26 * 128 - 1);

}  // namespace engine
