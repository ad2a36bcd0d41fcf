#pragma once
// Received payload, compared with what the other end's program sends by the same profile.

#include <cstdint>

#include "flow/context.h"
#include "net/rx_segment.h"
#include "program/expected_stream.h"
#include "stats/payload_counts.h"
#include "tls/endpoint.h"

namespace engine {

/// Of one side of one template.
struct PayloadCheck {
  ExpectedStream expected;  ///< from the other side
  uint64_t skip = 0;        ///< bytes at the beginning of each connection that are not compared
  PayloadCounts counts;
};

/// Compares the payload of a segment that TCP took (tcp::kTaken). `expected`: the flow's rcv_nxt
/// before that.
void check_payload(Context& context, PayloadCheck& check, Flow& flow, const RxSegment& segment,
                   uint32_t expected);
void check_datagram(Context& context, PayloadCheck& check, Flow& flow, const RxSegment& packet);

/// Compares payload that TLS has decrypted.
class PlaintextCheck final : public tls::Reader {
 public:
  /// `check`: nullptr: nothing is compared.
  PlaintextCheck(Context& context, PayloadCheck* check) : context_(context), check_(check) {}

  tls::Reader* reader() { return check_ == nullptr ? nullptr : this; }
  void read(Flow& flow, uint64_t position, std::span<const uint8_t> bytes) override;

 private:
  Context& context_;
  PayloadCheck* check_;
};

}  // namespace engine
