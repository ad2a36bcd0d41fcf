#include "io/frame_exchange.h"

#include <cstring>
#include <optional>

#include "net/packet.h"
#include "net/path_mtu.h"

namespace engine {

namespace {

template <typename Ends>
uint16_t fold_of(const Ends& ends) {
  return static_cast<uint16_t>(Steering::fold(ends.source, ends.destination) ^ ends.source_port ^
                               ends.destination_port);
}

/// Of the flow that a frame belongs to or tells of; nothing: of none.
std::optional<uint16_t> fold_of_flow(const Frame& frame) {
  Packet packet;
  const PacketKind kind = parse_packet(frame, packet);
  if (kind == PacketKind::tcp || kind == PacketKind::udp) return fold_of(packet);
  if (kind == PacketKind::other)
    if (const auto sent = read_too_long_message(frame)) return fold_of(*sent);
  return std::nullopt;
}

}  // namespace

bool ExchangeRing::push(const Frame& frame) {
  const size_t payload = frame.payload == nullptr ? 0 : frame.payload_length;
  uint8_t* const room = ring_.reserve(frame.head_length + payload);
  if (room == nullptr) return false;
  Frame copy = frame;
  copy.head = room;
  std::memcpy(room, frame.head, frame.head_length);
  if (payload != 0) {
    std::memcpy(room + frame.head_length, frame.payload, payload);
    copy.payload = room + frame.head_length;
  }
  ring_.commit(copy);
  return true;
}

std::span<const Frame> ExchangeRing::front() {
  const uint64_t end = ring_.end();
  size_t count = 0;
  while (count < frames_.size()) {
    const Frame* const frame = ring_.next(end);
    if (frame == nullptr) break;
    frames_[count++] = *frame;
  }
  return {frames_.data(), count};
}

// A frame that is parsed here is parsed once more where it is handled. That is a tenth of what the
// handling takes, and a port with one core does none of this.
std::span<const Frame> FrameExchange::sort(Side side, std::span<const Frame> frames) {
  size_t own = 0;
  for (const Frame& frame : frames) {
    const std::optional<uint16_t> fold = fold_of_flow(frame);
    const uint32_t owner = fold ? steering_.core_of(*fold) : core_;
    if (owner == core_) {
      own_[own++] = frame;
      continue;
    }
    CounterBlock& counters = counts_.of(side);
    if (rings_->between(side, core_, owner).push(frame)) {
      ++counters[Counter::rss_redirect_tx];
    } else {
      ++counters[Counter::rss_redirect_queue_full];
      ++counters[Counter::rss_redirect_drops];
      ++counts_.dropped(side)[Drop::exchange_full];
    }
  }
  return {own_.data(), own};
}

}  // namespace engine
