#include "capture/frame_ring.h"

#include <new>

namespace engine {

/// Records begin at multiples of its size, so one always fits before the end of the ring.
struct alignas(64) FrameRing::Header {
  SeenFrame seen;
  uint64_t next;      ///< position of the record behind this one
  bool skip = false;  ///< nothing here, the rest of the ring was too short
};

namespace {

constexpr size_t kAlignment = 64;

constexpr size_t round_up(size_t bytes) {
  return (bytes + kAlignment - 1) / kAlignment * kAlignment;
}

}  // namespace

// Not initialised, so that memory which is never used is never touched.
FrameRing::FrameRing() : memory_(std::make_unique_for_overwrite<Line[]>(kBytes / sizeof(Line))) {}

FrameRing::Header* FrameRing::at(uint64_t position) const {
  return reinterpret_cast<Header*>(memory_[position % kBytes / sizeof(Line)].bytes);
}

uint8_t* FrameRing::reserve(size_t length) {
  static_assert(sizeof(Header) % kAlignment == 0 && kBytes % kAlignment == 0);
  const uint64_t written = written_.load(std::memory_order_relaxed);
  const size_t needed = sizeof(Header) + round_up(length);
  const size_t to_end = kBytes - written % kBytes;
  const size_t skipped = to_end < needed ? to_end : 0;
  if (written + skipped + needed - read_.load(std::memory_order_acquire) > kBytes) return nullptr;
  if (skipped != 0) new (at(written)) Header{.seen = {}, .next = written + skipped, .skip = true};
  reserved_ = written + skipped;
  return reinterpret_cast<uint8_t*>(
      new (at(reserved_)) Header{.seen = {}, .next = reserved_ + needed} + 1);
}

void FrameRing::commit(const SeenFrame& seen) {
  Header* const header = at(reserved_);
  header->seen = seen;
  header->seen.bytes = {reinterpret_cast<const uint8_t*>(header + 1), seen.bytes.size()};
  written_.store(header->next, std::memory_order_release);
}

void FrameRing::read(const std::function<void(const SeenFrame&)>& take) {
  const uint64_t end = written_.load(std::memory_order_acquire);
  uint64_t position = read_.load(std::memory_order_relaxed);
  while (position != end) {
    const Header& header = *at(position);
    position = header.next;
    try {
      if (!header.skip) take(header.seen);
    } catch (...) {
      read_.store(position, std::memory_order_release);
      throw;
    }
    read_.store(position, std::memory_order_release);
  }
}

}  // namespace engine
