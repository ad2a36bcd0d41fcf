#include "io/frame_exchange.h"

#include <optional>

#include "net/path_mtu.h"
#include "net/rx_segment.h"

namespace engine {

namespace {

uint16_t fold_of(const IpAddress& source, const IpAddress& destination, uint16_t source_port,
                 uint16_t destination_port) {
  return static_cast<uint16_t>(Steering::fold(source, destination) ^ source_port ^
                               destination_port);
}

/// Of the flow that a frame belongs to or tells of; nothing: of none. Checksums are its core's to
/// verify.
std::optional<uint16_t> fold_of_flow(const Frame& frame) {
  const RxSegment segment = parse_unverified(frame);
  if (segment.kind == PacketKind::tcp || segment.kind == PacketKind::udp)
    return fold_of(segment.source(), segment.destination(), segment.source_port(),
                   segment.destination_port());
  if (const auto sent = read_too_long_message(segment))
    return fold_of(sent->source, sent->destination, sent->source_port, sent->destination_port);
  return std::nullopt;
}

}  // namespace

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

// The headers of a frame are read here, and parsed once more where it is handled, in another core's
// memory. A port with one core does none of this.
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
