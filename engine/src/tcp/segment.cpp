#include "tcp/segment.h"

#include <algorithm>

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

}  // namespace

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
    switch (kind) {
      case kMaximumSegmentSize:
        if (length == 4) segment.mss = load_be<uint16_t>(option + 2);
        break;
      case kWindowScale:
        if (length != 3) break;
        segment.has_scale = true;
        segment.scale = std::min(option[2], kMaxWindowScale);
        break;
      case kSackPermitted:
        if (length == 2) segment.sack_permitted = true;
        break;
      case kSackBlocks:
        for (unsigned at = 2; at + 8 <= length && segment.sack_count < kMaxSackBlocks; at += 8)
          segment.sack[segment.sack_count++] = {load_be<uint32_t>(option + at),
                                                load_be<uint32_t>(option + at + 4)};
        break;
      case kTimestampsOption:
        if (length != 10) break;
        segment.has_timestamps = true;
        segment.timestamp = load_be<uint32_t>(option + 2);
        segment.timestamp_echo = load_be<uint32_t>(option + 6);
        break;
      default:
        break;
    }
    option += length;
  }
}

}  // namespace engine::tcp
