#pragma once
// Received payload, compared with what the other end's program sends by the same profile.

#include <cstdint>

#include "flow/context.h"
#include "net/packet.h"
#include "program/expected_stream.h"
#include "stats/payload_counts.h"
#include "tcp/segment.h"

namespace engine {

/// Of one side of one template.
struct PayloadCheck {
  ExpectedStream expected;  ///< from the other side
  uint64_t skip = 0;        ///< bytes at the beginning of each connection that are not compared
  PayloadCounts counts;
};

/// Compares the payload of a segment that has not been taken yet.
void check_payload(Context& context, PayloadCheck& check, Flow& flow, const tcp::Segment& segment,
                   const Packet& packet);
void check_datagram(Context& context, PayloadCheck& check, Flow& flow, const Packet& packet);

}  // namespace engine
