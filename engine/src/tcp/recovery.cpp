// Loss recovery: RFC 6582 (NewReno), RFC 6675 (SACK), and of RFC 8985 what needs no time stamp of
// each segment: see probe.cpp.

#include <algorithm>

#include "flow/ranges.h"
#include "tcp/internal.h"

namespace engine::tcp {

namespace {

unsigned duplicate_threshold(Context& context, const Flow& flow) {
  return context.class_of(flow).tunables->duplicate_ack_threshold;
}

/// What of [snd_una, snd_max) is in flight, and what to send again, RFC 6675 section 4. Empty
/// ranges: nothing.
struct Scan {
  uint32_t pipe = 0;        ///< SetPipe()
  SequenceRange lost{};     ///< NextSeg() rule (1): the first hole that is lost and not resent
  SequenceRange missing{};  ///< rule (3): the first one not resent below what was reported
};

uint32_t length_of(const SequenceRange& range) {
  return range.end - range.start;
}

Scan scan(Context& context, const Flow& flow, const Extension& extension) {
  Scan result;
  const unsigned threshold = duplicate_threshold(context, flow);
  const auto& sacked = extension.sacked;
  uint32_t bytes_above = 0;
  for (const SequenceRange& range : sacked) bytes_above += range.end - range.start;
  uint32_t at = flow.snd_una;
  for (size_t i = 0; i <= sacked.size(); ++i) {
    const uint32_t hole_end = i < sacked.size() ? sacked[i].start : flow.snd_max;
    if (before(at, hole_end)) {
      // IsLost(): enough discontiguous ranges, or bytes, have been reported above the hole.
      const bool lost = sacked.size() - i >= threshold ||
                        bytes_above > (threshold - 1) * flow.mss ||
                        before(at, extension.lost_before);
      const uint32_t resent_end = before(extension.high_retransmit, at) ? at
                                  : before(hole_end, extension.high_retransmit)
                                      ? hole_end
                                      : extension.high_retransmit;
      if (!lost) result.pipe += hole_end - at;
      result.pipe += resent_end - at;
      if (before(resent_end, hole_end)) {
        const SequenceRange hole{resent_end, hole_end};
        if (lost && length_of(result.lost) == 0) result.lost = hole;
        if (i < sacked.size() && length_of(result.missing) == 0) result.missing = hole;
      }
    }
    if (i < sacked.size()) {
      bytes_above -= sacked[i].end - sacked[i].start;
      at = sacked[i].end;
    }
  }
  return result;
}

/// Resends a segment of `hole`; HighRxt moves behind it. False: no frame buffer.
bool resend_hole(Context& context, Flow& flow, Extension& extension, const SequenceRange& hole) {
  const uint32_t length = resend(context, flow, hole.start, hole.end);
  if (length == 0) {
    tx_retry(context, flow, TimerKind::retransmit);
    return false;
  }
  extension.high_retransmit = hole.start + length;
  CounterBlock& counters = *context.class_of(flow).counters;
  ++counters[Counter::tcps_sack_rexmits];
  counters[Counter::tcps_sack_rexmit_bytes] += length;
  return true;
}

/// Resends the first segment in flight, which begins at `sequence`, now or when there is a frame
/// buffer (kResendFirst). Returns its length, 0 if later.
uint32_t resend_at(Context& context, Flow& flow, uint32_t sequence) {
  const uint32_t length = resend(context, flow, sequence, flow.snd_max);
  length == 0 ? flow.set(kResendFirst) : flow.clear(kResendFirst);
  return length;
}

/// Whether a new segment could be sent but for congestion control.
bool has_new_data(const Flow& flow) {
  return before(flow.snd_nxt, flow.snd_end) && flow.snd_wnd > flow.snd_nxt - flow.snd_una;
}

}  // namespace

uint32_t resend(Context& context, Flow& flow, uint32_t sequence, uint32_t limit) {
  if (!before(sequence, flow.snd_end)) {
    // Only the FIN is left.
    return flow.has(kFinQueued) && emit_data(context, flow, flow.snd_end, 0, true) ? 1 : 0;
  }
  uint32_t length = std::min<uint32_t>({flow.mss, limit - sequence, flow.snd_end - sequence});
  length = segment_length(context, flow, sequence, length);
  const bool fin = flow.has(kFinQueued) && sequence + length == flow.snd_end &&
                   after(flow.snd_max, flow.snd_end);
  return emit_data(context, flow, sequence, length, fin) ? length + (fin ? 1 : 0) : 0;
}

bool resend_first(Context& context, Flow& flow) {
  const uint32_t length = resend_at(context, flow, flow.snd_una);
  if (length == 0) return false;
  Extension* const extension = context.extension_of(flow);
  const uint32_t end = flow.snd_una + length;
  if (flow.has(kSack) && extension != nullptr && before(extension->high_retransmit, end))
    extension->high_retransmit = end;
  return true;
}

bool update_scoreboard(Context& context, Flow& flow, const RxSegment& segment) {
  bool news = false;
  CounterBlock& counters = *context.class_of(flow).counters;
  for (unsigned i = 0; i < segment.options.sack_count; ++i) {
    const SequenceRange block = segment.sack_block(i);
    ++counters[Counter::tcps_sack_rcv_blocks];
    // Only what is in flight counts: below snd_una is a D-SACK (RFC 2883) or stale.
    if (!before(block.start, block.end) || before(block.start, flow.snd_una) ||
        after(block.end, flow.snd_max))
      continue;
    auto& sacked = context.extend(flow).sacked;
    if (covers(sacked, block)) continue;
    insert_range(sacked, block);
    news = true;
  }
  return news;
}

void enter_recovery(Context& context, Flow& flow) {
  // A reduction for an ECE of this window of data is the reduction (RFC 3168 section 6.1.2).
  if (!flow.has(kEcnReduced)) reduce_threshold(context, flow);
  flow.clear(kEcnReduced);
  flow.clear(kProbing);
  flow.set(kFastRecovery);
  flow.recover = flow.snd_max;
  flow.cwnd = flow.has(kSack) ? flow.ssthresh : flow.ssthresh + 3u * flow.mss;
  const uint32_t resent = resend_at(context, flow, flow.snd_una);
  if (flow.has(kSack)) {
    ++(*context.class_of(flow).counters)[Counter::tcps_sack_recovery_episode];
    Extension& extension = context.extend(flow);
    extension.high_retransmit = flow.snd_una + resent;
    extension.lost_before = flow.snd_una;
    extension.rescued = false;
  }
  start_retransmit_timer(context, flow);
}

void on_duplicate_ack(Context& context, Flow& flow) {
  ++(*context.class_of(flow).counters)[Counter::tcps_rcvdupack];
  // After a timeout, ACKs of what was resent needlessly look like duplicates (RFC 6582
  // section 4.1). They let no new segment out either (RFC 3042).
  if (flow.has(kGoingBack)) return;
  if (flow.duplicate_acks < UINT8_MAX) ++flow.duplicate_acks;
  if (flow.has(kFastRecovery)) {
    if (!flow.has(kSack)) flow.cwnd += flow.mss;  // RFC 6582 section 3.2 step 3
    return;
  }
  bool lost = flow.duplicate_acks >= duplicate_threshold(context, flow);
  if (!lost && flow.has(kSack))
    if (const Extension* extension = context.extension_of(flow); extension != nullptr) {
      uint32_t sacked = 0;
      for (const SequenceRange& range : extension->sacked) sacked += length_of(range);
      lost = sacked > (duplicate_threshold(context, flow) - 1) * flow.mss;
    }
  if (lost)
    enter_recovery(context, flow);
  else if (flow.has(kSack))
    start_retransmit_timer(context, flow);
}

void on_new_ack(Context& context, Flow& flow, uint32_t acknowledgment) {
  const uint32_t acked = acknowledgment - flow.snd_una;
  Extension* extension = context.extension_of(flow);
  if (extension != nullptr && !extension->sacked.empty())
    remove_before(extension->sacked, acknowledgment);
  const bool past = !before(acknowledgment, flow.recover);
  if (past) flow.clear(kGoingBack);
  if (!flow.has(kFastRecovery)) {
    flow.duplicate_acks = 0;
    if (!flow.has(kEcnReduced)) {
      if (uses_window(flow)) grow_window(context, flow, acked);
    } else if (past) {
      flow.clear(kEcnReduced);
    }
    return;
  }
  flow.clear(kResendFirst);
  if (past) {
    // RFC 6582 section 3.2 step 3 (full acknowledgment), RFC 6675 section 5 step (A).
    flow.cwnd =
        flow.has(kSack)
            ? flow.ssthresh
            : std::min(flow.ssthresh,
                       std::max<uint32_t>(flow.snd_max - acknowledgment, flow.mss) + flow.mss);
    flow.clear(kFastRecovery);
    flow.duplicate_acks = 0;
  } else if (!flow.has(kSack)) {
    // Partial acknowledgment: the next segment is lost too (RFC 6582 section 3.2 step 5).
    resend_at(context, flow, acknowledgment);
    flow.cwnd = flow.cwnd > acked ? flow.cwnd - acked : flow.mss;
    if (acked >= flow.mss) flow.cwnd += flow.mss;
  } else if (extension != nullptr && before(extension->high_retransmit, acknowledgment)) {
    // The first hole is lost by RFC 6675 section 5 step (B); make sure it is resent.
    extension->high_retransmit = acknowledgment + resend_at(context, flow, acknowledgment);
  }
}

uint32_t transmit_in_recovery(Context& context, Flow& flow) {
  Extension* extension = context.extension_of(flow);
  if (extension == nullptr) return 0;
  for (;;) {
    const Scan state = scan(context, flow, *extension);
    if (state.pipe + flow.mss > flow.cwnd) return 0;
    if (length_of(state.lost) != 0) {
      if (!resend_hole(context, flow, *extension, state.lost)) return 0;
    } else if (has_new_data(flow)) {
      return flow.cwnd - state.pipe;  // rule (2)
    } else if (length_of(state.missing) != 0) {
      if (!resend_hole(context, flow, *extension, state.missing)) return 0;
    } else {
      // Rule (4): once in a recovery the last segment, whose loss nothing would report.
      const uint32_t from = extension->sacked.empty() ? flow.snd_una : extension->sacked.back().end;
      const uint32_t end = after(flow.snd_max, flow.snd_end) ? flow.snd_end : flow.snd_max;
      if (!extension->rescued && before(from, end) && before(extension->high_retransmit, end)) {
        extension->rescued =
            resend(context, flow,
                   std::max(from, end - std::min<uint32_t>(flow.mss, end - from), before),
                   end) != 0;
        if (!extension->rescued) tx_retry(context, flow, TimerKind::retransmit);
      }
      return 0;
    }
  }
}

uint32_t skip_reported(Context& context, Flow& flow) {
  if (const Extension* const extension = context.extension_of(flow))
    for (const SequenceRange& range : extension->sacked) {
      if (before(flow.snd_nxt, range.start)) return range.start - flow.snd_nxt;
      if (before(flow.snd_nxt, range.end)) flow.snd_nxt = range.end;
    }
  return UINT32_MAX;
}

}  // namespace engine::tcp
