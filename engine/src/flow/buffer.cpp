#include "flow/buffer.h"

#include <algorithm>

namespace engine {
namespace {

constexpr size_t kSumBlock = 64;

/// Below this many bytes adding them beats looking up two sums.
constexpr uint32_t kSumFrom = 2 * kSumBlock;

std::string counting_bytes() {
  std::string bytes(256, '\0');
  for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<char>(i);
  return bytes;
}

}  // namespace

Buffer::Buffer(std::string base, uint64_t size, std::string fill)
    : size_(static_cast<uint32_t>(size)), kept_(std::move(base)) {
  if (fill.empty()) fill = counting_bytes();
  const size_t based = std::min<size_t>(kept_.size(), size_);
  const size_t kept = std::min<size_t>(size_, based + fill.size() - 1 + kMaxSpan);
  periodic_from_ = static_cast<uint32_t>(based);
  period_ = static_cast<uint32_t>(fill.size());
  kept_.reserve(kept);
  kept_.resize(based);
  while (kept_.size() < kept) kept_.append(fill, 0, kept - kept_.size());
  kept_.shrink_to_fit();
  add_up();
}

void Buffer::replace(std::span<const uint8_t> bytes) {
  kept_.assign(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  size_ = periodic_from_ = static_cast<uint32_t>(bytes.size());
  period_ = 1;
  sums_.clear();
}

void Buffer::add_up() {
  const auto* bytes = reinterpret_cast<const uint8_t*>(kept_.data());
  sums_.reserve(kept_.size() / kSumBlock + 1);
  ChecksumSum sum = 0;
  for (size_t block = 0; block <= kept_.size() / kSumBlock; ++block) {
    sums_.push_back(checksum_fold(sum));
    if (block < kept_.size() / kSumBlock)
      sum = checksum_add(sum, bytes + block * kSumBlock, kSumBlock);
  }
}

ChecksumSum Buffer::sum_before(size_t position) const {
  const size_t block = position / kSumBlock;
  const auto* bytes = reinterpret_cast<const uint8_t*>(kept_.data());
  return checksum_add(sums_[block], bytes + block * kSumBlock, position % kSumBlock);
}

// The difference of two sums is the sum of what lies between, with bytes weighted by their position
// in kept_: a span that starts at an odd one has its bytes swapped (RFC 1071 section 2(B)).
ChecksumSum Buffer::sum(uint32_t offset, uint32_t length) const {
  const size_t first = position(offset, length);
  if (length < kSumFrom || sums_.empty())
    return checksum_add(0, reinterpret_cast<const uint8_t*>(kept_.data()) + first, length);
  const uint16_t before = checksum_fold(sum_before(first));
  const ChecksumSum between = sum_before(first + length) + static_cast<uint16_t>(~before);
  return first % 2 == 0 ? between : byteswap(checksum_fold(between));
}

size_t Buffer::memory() const {
  return sizeof *this + kept_.capacity() + sums_.capacity() * sizeof sums_[0];
}

}  // namespace engine
