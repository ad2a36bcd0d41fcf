// Explicit congestion notification, RFC 3168 section 6.1.

#include "tcp/internal.h"

namespace engine::tcp {

namespace {

enum CodePoint : uint8_t { kNotCapable = 0, kEct1 = 1, kEct0 = 2, kCongestion = 3 };
constexpr uint8_t kCodePointMask = 3;

}  // namespace

void on_code_point(Context& context, Flow& flow, const RxSegment& segment) {
  CounterBlock& counters = *context.class_of(flow).counters;
  // Section 6.1.3: the echo ends with the sender's CWR, and begins again with a CE on that segment.
  if (segment.is(kCwr)) flow.clear(kEcnEcho);
  switch (segment.traffic_class & kCodePointMask) {
    case kCongestion:
      ++counters[Counter::tcps_ecn_ce];
      if (flow.has(kEcn)) flow.set(kEcnEcho);
      break;
    case kEct0:
      ++counters[Counter::tcps_ecn_ect0];
      break;
    case kEct1:
      ++counters[Counter::tcps_ecn_ect1];
      break;
    default:
      break;
  }
}

void agree_on_ecn(Context& context, Flow& flow, const RxSegment& syn) {
  FlowClass& template_side = context.class_of(flow);
  // Section 6.1.1: a SYN offers by both flags, a SYN-ACK agrees by ECE alone; both at once in an
  // answer would come from one that reflects what it does not know.
  const bool answer = syn.is(kAck);
  const bool agreed = syn.is(kEce) && syn.is(kCwr) != answer;
  const bool wanted = template_side.tunables->ecn == kEcnActive ||
                      (template_side.tunables->ecn == kEcnPassive && !answer);
  if (!agreed || !wanted) return;
  flow.set(kEcn);
  ++(*template_side.counters)[Counter::tcps_ecn_shs];
}

uint8_t syn_ecn_flags(Context& context, const Flow& flow) {
  if (flow.state == FlowState::syn_received) return flow.has(kEcn) ? kEce : 0;
  // Section 6.1.1.1: a SYN with them may have been dropped for them.
  const bool active = context.classes[flow.flow_class]->tunables->ecn == kEcnActive;
  return active && flow.retransmissions == 0 ? kEce | kCwr : 0;
}

uint8_t mark_segment(Flow& flow, uint32_t sequence, uint32_t length, uint32_t& flags) {
  if (flow.has(kEcnEcho)) flags |= kEce;
  // Sections 6.1.4 to 6.1.6: pure ACKs, retransmissions and window probes are not capable.
  if (length == 0 || before(sequence, flow.snd_max) || persists(flow)) return kNotCapable;
  if (flow.has(kCongestionWindowReduced)) {
    flags |= kCwr;
    flow.clear(kCongestionWindowReduced);
  }
  return kEct0;
}

}  // namespace engine::tcp
