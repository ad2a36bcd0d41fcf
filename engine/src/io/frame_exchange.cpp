#include "io/frame_exchange.h"

#include <cstring>

#include "net/packet.h"

namespace engine {

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
    Packet packet;
    const PacketKind kind = parse_packet(frame, packet);
    const bool of_flow = kind == PacketKind::tcp || kind == PacketKind::udp;
    const uint32_t owner =
        of_flow ? steering_.core_of(Steering::fold(packet.source, packet.destination) ^
                                    packet.source_port ^ packet.destination_port)
                : core_;
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
