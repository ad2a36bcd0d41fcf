#include "tcp/segment.h"

namespace engine::tcp {

namespace {

enum Option : uint8_t {
  kEnd = 0,
  kNoOperation = 1,
  kMaximumSegmentSize = 2,
  kWindowScale = 3,
  kSackPermitted = 4,
  kSackBlocks = 5,
  kTimestampsOption = 8,
};

constexpr unsigned kFixedHeader = 20;
/// NOP, NOP, timestamps: how every sender lays out the only option of most segments (RFC 7323 A).
constexpr uint32_t kAlignedTimestamps = 0x0101'080a;

void parse_options(const uint8_t* option, const uint8_t* end, Segment& segment) {
  while (option < end) {
    const uint8_t kind = option[0];
    if (kind == kEnd) return;
    if (kind == kNoOperation) {
      ++option;
      continue;
    }
    if (end - option < 2) return;
    const uint8_t length = option[1];
    if (length < 2 || length > end - option) return;
    if (kind == kMaximumSegmentSize && length == 4) {
      segment.mss = load_be<uint16_t>(option + 2);
    } else if (kind == kWindowScale && length == 3) {
      segment.has_scale = true;
      segment.scale = option[2] > kMaxWindowScale ? kMaxWindowScale : option[2];
    } else if (kind == kSackPermitted && length == 2) {
      segment.sack_permitted = true;
    } else if (kind == kTimestampsOption && length == 10) {
      segment.has_timestamps = true;
      segment.timestamp = load_be<uint32_t>(option + 2);
      segment.timestamp_echo = load_be<uint32_t>(option + 6);
    } else if (kind == kSackBlocks) {
      for (unsigned at = 2; at + 8 <= length && segment.sack_count < kMaxSackBlocks; at += 8)
        segment.sack[segment.sack_count++] = {load_be<uint32_t>(option + at),
                                              load_be<uint32_t>(option + at + 4)};
    }
    option += length;
  }
}

}  // namespace

Segment parse_segment(const Packet& packet) {
  const uint8_t* header = packet.transport;
  Segment segment;
  segment.sequence = load_be<uint32_t>(header + 4);
  segment.acknowledgment = load_be<uint32_t>(header + 8);
  segment.flags = header[13];
  segment.window = load_be<uint16_t>(header + 14);
  segment.length = packet.payload_length;
  if (packet.transport_header_length == kFixedHeader + 12 &&
      load_be<uint32_t>(header + kFixedHeader) == kAlignedTimestamps) {
    segment.has_timestamps = true;
    segment.timestamp = load_be<uint32_t>(header + kFixedHeader + 4);
    segment.timestamp_echo = load_be<uint32_t>(header + kFixedHeader + 8);
  } else {
    parse_options(header + kFixedHeader, header + packet.transport_header_length, segment);
  }
  return segment;
}

}  // namespace engine::tcp
