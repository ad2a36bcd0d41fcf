#include "stats/histogram.h"

#include <algorithm>
#include <numeric>

#include "base/byte_order.h"

namespace engine {

namespace {

/// V2, counts of variable length.
constexpr uint32_t kCookie = 0x1c84'9303 | 0x10;

template <typename Integer>
void append_be(std::string& bytes, Integer value) {
  char at[sizeof value];
  store_be(at, value);
  bytes.append(at, sizeof at);
}

/// ZigZag, then groups of seven bits, least significant first; a ninth byte holds eight.
void append_number(std::string& bytes, int64_t value) {
  auto left = static_cast<uint64_t>(value) << 1 ^ static_cast<uint64_t>(value >> 63);
  for (int group = 0; group < 8 && left >= 0x80; ++group, left >>= 7)
    bytes.push_back(static_cast<char>(left | 0x80));
  bytes.push_back(static_cast<char>(left));
}

}  // namespace

uint64_t Histogram::count() const {
  return std::accumulate(counts_.begin(), counts_.end(), uint64_t{0});
}

Histogram& Histogram::operator+=(const Histogram& other) {
  for (size_t i = 0; i < kBuckets; ++i) counts_[i] += other.counts_[i];
  sum_ += other.sum_;
  highest_ = std::max(highest_, other.highest_);
  return *this;
}

std::string Histogram::encoded() const {
  std::string counts;
  const size_t used = highest_ == 0 && counts_[0] == 0 ? 0 : index_of(highest_) + 1;
  for (size_t i = 0; i < used;) {
    size_t end = i;
    while (counts_[end] == 0) ++end;  // the last bucket in use is not empty
    const auto empty = static_cast<int64_t>(end - i);
    if (empty == 0)
      append_number(counts, static_cast<int64_t>(counts_[i]));
    else
      append_number(counts, empty == 1 ? 0 : -empty);
    i = empty == 0 ? i + 1 : end;
  }
  std::string bytes;
  append_be(bytes, kCookie);
  append_be(bytes, static_cast<uint32_t>(counts.size()));
  append_be(bytes, uint32_t{0});  // normalizing index offset
  append_be(bytes, uint32_t{kSignificantFigures});
  append_be(bytes, uint64_t{1});  // lowest value told from 0
  append_be(bytes, kHighest);
  append_be(bytes, std::bit_cast<uint64_t>(1.0));  // conversion ratio
  return bytes + counts;
}

}  // namespace engine
