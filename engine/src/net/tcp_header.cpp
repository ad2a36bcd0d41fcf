#include "net/tcp_header.h"

#include <algorithm>

namespace engine::tcp {

namespace {

/// Parses options that stand aligned, from byte `at` on. Returns where others begin.
uint32_t parse_aligned(const uint8_t* header, uint32_t length, uint32_t at, Options& options) {
  for (; at + 4 <= length; at += 4) {
    const auto word = load_be<uint32_t>(header + at);
    if (word >> 16 == kMssHead) {
      options.mss = static_cast<uint16_t>(word);
    } else if (word >> 8 == kScaleHead) {
      options.offered |= kOffersScaling;
      options.scale = std::min(static_cast<uint8_t>(word), kMaxWindowScale);
    } else if (word == kAlignedSackPermitted) {
      options.offered |= kOffersSack;
    } else if (word == kAlignedTimestamps && at + kTimestampsLength <= length) {
      options.offered |= kOffersTimestamps;
      options.timestamps_at = static_cast<uint8_t>(at + 4);
      at += 8;
    } else {
      break;
    }
  }
  return at;
}

/// Parses one option of a kind that has a length, which is right.
void parse_option(const uint8_t* header, uint32_t at, uint8_t length, Options& options) {
  const uint8_t* const option = header + at;
  switch (option[0]) {
    case kMaximumSegmentSize:
      if (length == 4) options.mss = load_be<uint16_t>(option + 2);
      break;
    case kWindowScale:
      if (length != 3) break;
      options.offered |= kOffersScaling;
      options.scale = std::min(option[2], kMaxWindowScale);
      break;
    case kSackPermitted:
      if (length == 2) options.offered |= kOffersSack;
      break;
    case kSackBlocks:
      options.sack_at = static_cast<uint8_t>(at + 2);
      options.sack_count = static_cast<uint8_t>(std::min((length - 2u) / 8, kMaxSackBlocks));
      break;
    case kTimestampsOption:
      if (length != 10) break;
      options.offered |= kOffersTimestamps;
      options.timestamps_at = static_cast<uint8_t>(at + 2);
      break;
    default:
      break;
  }
}

}  // namespace

Options parse_options(const uint8_t* header, uint32_t length) {
  Options options;
  uint32_t at = parse_aligned(header, length, kFixedHeader, options);
  while (at < length) {
    const uint8_t kind = header[at];
    if (kind == kNoOperation) {
      ++at;
      continue;
    }
    if (kind == kEnd || length - at < 2) break;
    const uint8_t option = header[at + 1];
    if (option < 2 || option > length - at) break;
    parse_option(header, at, option, options);
    at += option;
  }
  return options;
}

}  // namespace engine::tcp
