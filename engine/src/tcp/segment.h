#pragma once
// TCP segments as values: header fields and the options that matter (RFC 9293, 2018, 7323).

#include <cstddef>
#include <cstdint>

#include "flow/extension.h"
#include "flow/tunables.h"
#include "net/packet.h"

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

inline constexpr unsigned kMaxSackBlocks = 4;

struct Segment {
  uint32_t sequence = 0;
  uint32_t acknowledgment = 0;
  uint32_t length = 0;  ///< payload bytes
  uint16_t window = 0;  ///< as on the wire, not scaled
  uint8_t flags = 0;
  bool has_timestamps = false;
  bool sack_permitted = false;
  bool has_scale = false;
  uint8_t scale = 0;
  uint8_t sack_count = 0;
  uint16_t mss = 0;  ///< 0: option absent
  uint32_t timestamp = 0;
  uint32_t timestamp_echo = 0;
  SequenceRange sack[kMaxSackBlocks];

  bool is(SegmentFlag flag) const { return (flags & flag) != 0; }
  /// Sequence space taken: payload, SYN and FIN.
  uint32_t span() const { return length + (is(kSyn) ? 1 : 0) + (is(kFin) ? 1 : 0); }
};

/// Length of the TCP header without options, bytes.
inline constexpr unsigned kFixedHeader = 20;
enum Option : uint8_t {
  kEnd = 0,
  kNoOperation = 1,
  kMaximumSegmentSize = 2,
  kWindowScale = 3,
  kSackPermitted = 4,
  kSackBlocks = 5,
  kTimestampsOption = 8,
};
/// Options of a SYN as most stacks lay them out (RFC 7323 appendix A), and their length in the
/// order in which this stack writes them: these, and time stamps.
inline constexpr uint32_t kMssHead = kMaximumSegmentSize << 8 | 4;
inline constexpr uint32_t kScaleHead = kNoOperation << 16 | kWindowScale << 8 | 3;
inline constexpr uint32_t kAlignedSackPermitted =
    kNoOperation << 24 | kNoOperation << 16 | kSackPermitted << 8 | 2;
inline constexpr ptrdiff_t kSynOptions = 24;
/// NOP, NOP, timestamps: how every sender lays out the only option of most segments (RFC 7323 A).
inline constexpr uint32_t kAlignedTimestamps = 0x0101'080a;
inline constexpr unsigned kTimestampsLength = 12;

/// Enters the options in [option, end). Malformed ones end the list; what came before counts.
void parse_options(const uint8_t* option, const uint8_t* end, Segment& segment);

/// The segment in a packet of kind tcp.
inline Segment parse_segment(const Packet& packet) {
  const uint8_t* const header = packet.transport;
  Segment segment;
  segment.sequence = load_be<uint32_t>(header + 4);
  segment.acknowledgment = load_be<uint32_t>(header + 8);
  segment.flags = header[13];
  segment.window = load_be<uint16_t>(header + 14);
  segment.length = packet.payload_length;
  if (packet.transport_header_length == kFixedHeader + kTimestampsLength &&
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
