#include "tcp/segment.h"

#include <algorithm>

namespace engine::tcp {

void parse_options(const uint8_t* option, const uint8_t* end, Segment& segment) {
  if (end - option == kSynOptions && load_be<uint16_t>(option) == kMssHead &&
      load_be<uint32_t>(option + 4) >> 8 == kScaleHead &&
      load_be<uint32_t>(option + 8) == kAlignedSackPermitted &&
      load_be<uint32_t>(option + 12) == kAlignedTimestamps) {
    segment.mss = load_be<uint16_t>(option + 2);
    segment.has_scale = segment.sack_permitted = segment.has_timestamps = true;
    segment.scale = std::min(option[7], kMaxWindowScale);
    segment.timestamp = load_be<uint32_t>(option + 16);
    segment.timestamp_echo = load_be<uint32_t>(option + 20);
    return;
  }
  // Options of a SYN that stand aligned, as most stacks lay them out (RFC 7323 appendix A).
  for (; end - option >= 4; option += 4) {
    const auto word = load_be<uint32_t>(option);
    if (word >> 16 == kMssHead) {
      segment.mss = static_cast<uint16_t>(word);
    } else if (word >> 8 == kScaleHead) {
      segment.has_scale = true;
      segment.scale = std::min(static_cast<uint8_t>(word), kMaxWindowScale);
    } else if (word == kAlignedSackPermitted) {
      segment.sack_permitted = true;
    } else if (word == kAlignedTimestamps && end - option >= 12) {
      segment.has_timestamps = true;
      segment.timestamp = load_be<uint32_t>(option + 4);
      segment.timestamp_echo = load_be<uint32_t>(option + 8);
      option += 8;
    } else {
      break;
    }
  }
  while (option < end) {
    const uint8_t kind = *option;
    if (kind == kNoOperation) {
      ++option;
      continue;
    }
    if (kind == kEnd || end - option < 2) return;
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
