#include "tls/sealed_buffers.h"

namespace engine::tls {

namespace {

/// A frame that refers to a buffer may still be in a queue when an RST ends the flow: so long a
/// buffer is not written anew, as long as there are others.
constexpr Nanoseconds kRest = 1 * kMillisecond;

}  // namespace

uint32_t SealedBuffers::take(Size size, Nanoseconds now) {
  const uint32_t bytes = bytes_of(size);
  std::deque<Free>& free = free_[size];
  if (!free.empty() && (left_[size] < bytes || now - free.front().since >= kRest)) {
    const uint32_t number = free.front().number;
    free.pop_front();
    return number;
  }
  left_[size] -= bytes;
  // A string of that length makes its memory known to the buffer. Frames refer to that memory,
  // which stays where it is when the list grows.
  buffers_.emplace_back(std::string(bytes, '\0'), bytes, std::string(1, '\0'));
  sizes_.push_back(size);
  return static_cast<uint32_t>(buffers_.size() - 1);
}

uint32_t SealedBuffers::keep(std::span<const uint8_t> bytes, Nanoseconds now) {
  const uint32_t number = take(bytes.size() <= kSmall ? kSmallSize : kLargeSize, now);
  buffers_[number].replace(bytes);
  ++in_use_;
  return number;
}

void SealedBuffers::release(uint32_t number, Nanoseconds now) {
  free_[sizes_[number]].push_back({number, now});
  --in_use_;
}

}  // namespace engine::tls
