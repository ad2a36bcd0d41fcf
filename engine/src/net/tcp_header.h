#pragma once
// The TCP header and the options that matter: RFC 9293, RFC 2018, RFC 7323.

#include <cstddef>
#include <cstdint>

#include "base/byte_order.h"

namespace engine {

/// A range of sequence numbers, [start, end).
struct SequenceRange {
  uint32_t start;
  uint32_t end;
};

}  // namespace engine

namespace engine::tcp {

enum SegmentFlag : uint8_t {
  kFin = 0x01,
  kSyn = 0x02,
  kRst = 0x04,
  kPsh = 0x08,
  kAck = 0x10,
  kUrg = 0x20,
  kEce = 0x40,
  kCwr = 0x80,
};

/// Length of the TCP header without options, bytes.
inline constexpr uint32_t kFixedHeader = 20;
enum Option : uint8_t {
  kEnd = 0,
  kNoOperation = 1,
  kMaximumSegmentSize = 2,
  kWindowScale = 3,
  kSackPermitted = 4,
  kSackBlocks = 5,
  kTimestampsOption = 8,
};
/// Options as most stacks lay them out, padded by NOPs in front (RFC 7323 appendix A).
inline constexpr uint32_t kMssHead = kMaximumSegmentSize << 8 | 4;
inline constexpr uint32_t kScaleHead = kNoOperation << 16 | kWindowScale << 8 | 3;
inline constexpr uint32_t kAlignedSackPermitted =
    kNoOperation << 24 | kNoOperation << 16 | kSackPermitted << 8 | 2;
inline constexpr uint32_t kAlignedTimestamps = 0x0101'080a;
inline constexpr uint32_t kTimestampsLength = 12;
inline constexpr unsigned kMaxSackBlocks = 4;
inline constexpr uint8_t kMaxWindowScale = 14;  ///< RFC 7323 section 2.3

/// What one end offers by its SYN, and both agree on: as in Flow::flags.
enum OfferFlag : uint8_t {
  kOffersTimestamps = 1 << 4,
  kOffersSack = 1 << 5,
  kOffersScaling = 1 << 6,
};
inline constexpr uint8_t kAllOffers = kOffersTimestamps | kOffersSack | kOffersScaling;

/// What the options of a received segment say, or where they stand: in bytes from the beginning of
/// the TCP header to what follows an option's kind and length; 0: it is absent.
struct Options {
  uint16_t mss = 0;     ///< 0: absent
  uint8_t offered = 0;  ///< OfferFlag bits
  uint8_t scale = 0;    ///< of windows; 0: absent, or no scale
  uint8_t timestamps_at = 0;
  uint8_t sack_at = 0;
  uint8_t sack_count = 0;  ///< blocks, at most kMaxSackBlocks
};

/// Bytes of options of a SYN, as most stacks lay them out: MSS, window scale, SACK permitted and
/// time stamps, or MSS and SACK permitted.
inline constexpr uint32_t kSynOptions = 24;
inline constexpr uint32_t kBareSynOptions = 8;

/// Parses the options of a TCP header of `length` bytes, which are at hand. Malformed ones end the
/// list; what came before counts.
Options parse_options(const uint8_t* header, uint32_t length);

}  // namespace engine::tcp
