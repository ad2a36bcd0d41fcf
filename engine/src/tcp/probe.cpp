// Tail loss probes and the reordering timer, RFC 8985. What RACK knows by a time stamp of every
// segment is concluded here from when the timer was set, so that a flow needs no memory for it.

#include <algorithm>

#include "tcp/internal.h"

namespace engine::tcp {

namespace {

/// All holes below the highest number reported by SACK are lost: they left a round trip and a
/// reordering window before what was reported (RFC 8985 section 6.2 step 5).
bool recover_holes(Context& context, Flow& flow) {
  Extension* extension = context.extension_of(flow);
  if (extension == nullptr || extension->sacked.empty()) return false;
  const uint32_t highest = extension->sacked.back().end;
  enter_recovery(context, flow);
  extension->lost_before = highest;
  return true;
}

}  // namespace

bool may_probe(const Flow& flow) {
  constexpr uint32_t kBusy = kFastRecovery | kGoingBack | kProbing | kEcnReduced;
  return (flow.flags & (kBusy | kSack)) == kSack && flow.srtt_us != 0;
}

bool has_open_hole(Context& context, const Flow& flow) {
  if ((flow.flags & (kFastRecovery | kGoingBack | kSack)) != kSack) return false;
  const Extension* extension = context.extension_of(flow);
  return extension != nullptr && !extension->sacked.empty();
}

Nanoseconds probe_timeout(const Flow& flow) {
  return std::max(2 * Nanoseconds{flow.srtt_us} * kMicrosecond, kMinProbe);
}

Nanoseconds reordering_window(const Flow& flow) {
  return std::max(Nanoseconds{flow.srtt_us} * kMicrosecond / 4, kMinReorderingWindow);
}

bool expire_probe(Context& context, Flow& flow) {
  if (recover_holes(context, flow)) return true;
  // A lone segment's ACK may be delayed for as long as a retransmission timeout (section 7.2).
  if (flight_size(flow) <= flow.mss || flow.has(kProbing)) return false;
  const bool window_open = flow.snd_wnd > flow.snd_nxt - flow.snd_una;
  const bool fresh =
      flow.snd_nxt == flow.snd_max && before(flow.snd_nxt, flow.snd_end) && window_open;
  uint32_t sent;
  if (fresh) {
    sent = resend(context, flow, flow.snd_nxt, flow.snd_una + flow.snd_wnd);
    flow.snd_nxt = flow.snd_max;
  } else {
    const uint32_t end = after(flow.snd_max, flow.snd_end) ? flow.snd_end : flow.snd_max;
    const uint32_t last = std::min<uint32_t>(flow.mss, end - flow.snd_una);
    sent = resend(context, flow, end - last, end);
  }
  if (sent == 0) return false;
  flow.set(kProbing);
  fresh ? flow.clear(kProbedAgain) : flow.set(kProbedAgain);
  flow.recover = flow.snd_max;
  start_timeout(context, flow, 0);
  return true;
}

void on_ack_while_probing(Context& context, Flow& flow, const RxSegment& segment, bool advanced) {
  const uint32_t acknowledgment = segment.acknowledgment();
  if (before(acknowledgment, flow.recover)) {
    // The probe came through, and what left before it did not.
    const Extension* extension = context.extension_of(flow);
    if (extension != nullptr && !extension->sacked.empty() &&
        !before(extension->sacked.back().end, flow.recover)) {
      flow.clear(kProbing);
      recover_holes(context, flow);
    }
    return;
  }
  // RFC 8985 section 7.4.2. The D-SACK (RFC 2883) of the probe begins below the acknowledgment, and
  // ends where the probe did; not every stack counts the FIN.
  const bool reports = segment.options.sack_count != 0;
  const SequenceRange first = reports ? segment.sack_block(0) : SequenceRange{};
  const uint32_t data_end = after(flow.recover, flow.snd_end) ? flow.snd_end : flow.recover;
  const bool duplicate = reports && before(first.start, acknowledgment) &&
                         (first.end == flow.recover || first.end == data_end);
  const bool repeated = !advanced && segment.payload_length == 0 && !reports;
  if (!flow.has(kProbedAgain) || duplicate || repeated) {
    flow.clear(kProbing);
  } else if (after(acknowledgment, flow.recover)) {
    flow.clear(kProbing);  // the probe repaired a loss: as much a sign of congestion as any
    reduce_threshold(context, flow);
    flow.cwnd = std::min(flow.cwnd, flow.ssthresh);
  }
}

}  // namespace engine::tcp
