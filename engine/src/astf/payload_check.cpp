#include "astf/payload_check.h"

#include <algorithm>
#include <utility>

namespace engine {

namespace {

void count_compared(PayloadCheck& check, Extension& extension, ExpectedStream::Difference found,
                    uint64_t bytes) {
  check.counts.compared_bytes += found.known;
  check.counts.unknown_bytes += bytes - found.known;
  check.counts.mismatched_bytes += found.differs;
  if (found.differs != 0 && !std::exchange(extension.mismatched, true))
    ++check.counts.mismatched_flows;
}

/// `position`: of `bytes` in the stream.
void compare(PayloadCheck& check, Extension& extension, uint64_t position,
             std::span<const uint8_t> bytes) {
  const size_t skipped =
      position < check.skip ? std::min<uint64_t>(check.skip - position, bytes.size()) : 0;
  check.counts.unknown_bytes += skipped;
  bytes = bytes.subspan(skipped);
  count_compared(check, extension, check.expected.compare(position + skipped, bytes), bytes.size());
}

}  // namespace

// What is new of the segment lies at or behind `expected`.
void check_payload(Context& context, PayloadCheck& check, Flow& flow, const RxSegment& segment,
                   uint32_t expected) {
  Extension& extension = context.extend(flow);
  // No payload was taken before the first was seen here, so the stream begins there.
  if (!std::exchange(extension.follows_stream, true)) extension.stream_sequence = expected;
  extension.stream_position += expected - extension.stream_sequence;
  extension.stream_sequence = expected;

  std::span<const uint8_t> bytes = segment.payload();
  check.counts.unknown_bytes += segment.payload_length - bytes.size();
  const uint32_t sequence = segment.sequence() + (segment.is(tcp::kSyn) ? 1 : 0);
  uint32_t ahead = sequence - expected;
  if (before(sequence, expected)) {
    bytes = bytes.subspan(std::min<size_t>(expected - sequence, bytes.size()));
    ahead = 0;
  }
  const uint32_t window = context.class_of(flow).tunables->receive_buffer;
  bytes = bytes.first(std::min<size_t>(bytes.size(), window - std::min(ahead, window)));
  compare(check, extension, extension.stream_position + ahead, bytes);
}

void PlaintextCheck::read(Flow& flow, uint64_t position, std::span<const uint8_t> bytes) {
  compare(*check_, context_.extend(flow), position, bytes);
}

void check_datagram(Context& context, PayloadCheck& check, Flow& flow, const RxSegment& packet) {
  const std::span<const uint8_t> bytes = packet.payload();
  const bool whole = bytes.size() == packet.payload_length;
  count_compared(check, context.extend(flow),
                 whole ? check.expected.compare_datagram(bytes) : ExpectedStream::Difference{},
                 packet.payload_length);
}

}  // namespace engine
