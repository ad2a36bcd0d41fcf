#include "capture/frame_copier.h"

#include <algorithm>
#include <cstring>

namespace engine {

void FrameCopier::add(const CaptureTap& tap) {
  taps_.push_back(tap);
}

void FrameCopier::remove(uint32_t number) {
  std::erase_if(taps_, [&](const CaptureTap& tap) { return tap.number == number; });
}

std::span<const uint8_t> FrameCopier::in_one_piece(const Frame& frame) {
  if (frame.payload == nullptr) return {frame.head, frame.head_length};
  const size_t rest = std::min<size_t>(frame.payload_length, whole_.size() - frame.head_length);
  std::memcpy(whole_.data(), frame.head, frame.head_length);
  std::memcpy(whole_.data() + frame.head_length, frame.payload, rest);
  return {whole_.data(), frame.head_length + rest};
}

void FrameCopier::see(const Frame& frame, bool transmitted, Nanoseconds now) {
  std::span<const uint8_t> bytes;
  SeenFrame seen{now, 0, port_, transmitted, static_cast<uint32_t>(frame.length()), {}};
  size_t wanted = 0;
  for (const CaptureTap& tap : taps_) {
    if (!(transmitted ? tap.transmitted : tap.received) || tap.budget == 0) continue;
    if (bytes.empty()) bytes = in_one_piece(frame);
    if (!tap.filter.matches(bytes)) continue;
    seen.taps |= uint64_t{1} << tap.number;
    wanted = std::max<size_t>(wanted, tap.snap_length == 0 ? bytes.size() : tap.snap_length);
  }
  if (seen.taps == 0) return;
  const size_t length = std::min(wanted, bytes.size());
  uint8_t* const copy = ring_.reserve(length);
  if (copy == nullptr) {
    lost_.fetch_add(1, std::memory_order_relaxed);
    return;
  }
  std::memcpy(copy, bytes.data(), length);
  seen.bytes = {copy, length};
  ring_.commit(seen);
  for (CaptureTap& tap : taps_) tap.budget -= seen.taps >> tap.number & 1;
}

}  // namespace engine
