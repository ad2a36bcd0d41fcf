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

// Before the segment is processed: what is new of it lies at or behind rcv_nxt.
void check_payload(Context& context, PayloadCheck& check, Flow& flow, const RxSegment& segment) {
  if (flow.state <= FlowState::syn_sent || flow.has(kPeerFin) || segment.is(tcp::kSyn)) return;
  Extension& extension = context.extend(flow);
  // No payload was processed before the first was seen here, so it begins at rcv_nxt.
  if (!std::exchange(extension.follows_stream, true)) extension.stream_sequence = flow.rcv_nxt;
  extension.stream_position += flow.rcv_nxt - extension.stream_sequence;
  extension.stream_sequence = flow.rcv_nxt;

  std::span<const uint8_t> bytes = segment.payload();
  check.counts.unknown_bytes += segment.payload_length - bytes.size();
  const uint32_t sequence = segment.sequence();
  uint32_t ahead = sequence - flow.rcv_nxt;
  if (before(sequence, flow.rcv_nxt)) {
    bytes = bytes.subspan(std::min<size_t>(flow.rcv_nxt - sequence, bytes.size()));
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
