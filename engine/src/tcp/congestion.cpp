// Congestion control and loss recovery: RFC 5681, 6582 (NewReno), 6675 (SACK), 6928.

#include <algorithm>

#include "flow/ranges.h"
#include "tcp/internal.h"

namespace engine::tcp {

namespace {

/// RFC 5681 equation (4).
uint32_t half_of_flight(const Flow& flow) {
  return std::max<uint32_t>(flight_size(flow) / 2, 2u * flow.mss);
}

unsigned duplicate_threshold(Context& context, const Flow& flow) {
  return context.class_of(flow).tunables->duplicate_ack_threshold;
}

/// Retransmits one segment from `sequence` on, not beyond `limit`.
bool resend(Context& context, Flow& flow, uint32_t sequence, uint32_t limit) {
  if (!before(sequence, flow.snd_end)) {
    // Only the FIN is left.
    return flow.has(kFinQueued) && emit_data(context, flow, flow.snd_end, 0, true);
  }
  uint32_t length = std::min<uint32_t>(longest_segment(context, flow, sequence), flow.mss);
  length = std::min(length, limit - sequence);
  length = std::min(length, flow.snd_end - sequence);
  const bool fin = flow.has(kFinQueued) && sequence + length == flow.snd_end &&
                   after(flow.snd_max, flow.snd_end);
  return emit_data(context, flow, sequence, length, fin);
}

void enter_recovery(Context& context, Flow& flow) {
  CounterBlock& counters = *context.class_of(flow).counters;
  flow.set(kFastRecovery);
  flow.recover = flow.snd_max;
  flow.ssthresh = half_of_flight(flow);
  if (flow.has(kSack)) {
    ++counters[Counter::tcps_sack_recovery_episode];
    flow.cwnd = flow.ssthresh;
    Extension* extension = context.extend(flow);
    if (extension != nullptr) extension->high_retransmit = flow.snd_una;
  } else {
    flow.cwnd = flow.ssthresh + 3u * flow.mss;
  }
  resend(context, flow, flow.snd_una, flow.snd_max);
  if (Extension* extension = context.extension_of(flow); flow.has(kSack) && extension != nullptr)
    extension->high_retransmit = std::min(flow.snd_una + flow.mss, flow.snd_max,
                                          [](uint32_t a, uint32_t b) { return before(a, b); });
  start_retransmit_timer(context, flow);
}

/// What of [snd_una, snd_max) is in flight, and the first hole that is lost and not yet resent.
struct Scan {
  uint32_t pipe = 0;   ///< RFC 6675 section 4, SetPipe()
  bool found = false;  ///< RFC 6675 NextSeg() rule (1) applies
  SequenceRange candidate{};
};

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
      const bool lost = sacked.size() - i >= threshold || bytes_above > (threshold - 1) * flow.mss;
      const uint32_t resent_end = before(extension.high_retransmit, at) ? at
                                  : before(hole_end, extension.high_retransmit)
                                      ? hole_end
                                      : extension.high_retransmit;
      if (!lost) result.pipe += hole_end - at;
      result.pipe += resent_end - at;
      if (lost && !result.found && before(resent_end, hole_end)) {
        result.found = true;
        result.candidate = {resent_end, hole_end};
      }
    }
    if (i < sacked.size()) {
      bytes_above -= sacked[i].end - sacked[i].start;
      at = sacked[i].end;
    }
  }
  return result;
}

void leave_recovery(Context& context, Flow& flow) {
  flow.clear(kFastRecovery);
  flow.duplicate_acks = 0;
  if (Extension* extension = context.extension_of(flow)) extension->sacked.clear();
}

}  // namespace

void start_congestion_control(Context& context, Flow& flow) {
  const Tunables& tunables = *context.class_of(flow).tunables;
  const uint32_t mss = flow.mss;
  flow.cwnd = std::min(tunables.initial_window * mss,
                       std::max<uint32_t>(2 * mss, tunables.initial_window * 1460u));
  flow.ssthresh = 0x3fff'ffff;
}

bool update_scoreboard(Context& context, Flow& flow, const Segment& segment) {
  bool news = false;
  CounterBlock& counters = *context.class_of(flow).counters;
  for (unsigned i = 0; i < segment.sack_count; ++i) {
    const SequenceRange block = segment.sack[i];
    ++counters[Counter::tcps_sack_rcv_blocks];
    // Only what is in flight counts: below snd_una is a D-SACK (RFC 2883) or stale.
    if (!before(block.start, block.end) || before(block.start, flow.snd_una) ||
        after(block.end, flow.snd_max))
      continue;
    Extension* extension = context.extend(flow);
    if (extension == nullptr) continue;
    if (covers(extension->sacked, block)) continue;
    insert_range(extension->sacked, block);
    news = true;
  }
  return news;
}

void on_duplicate_ack(Context& context, Flow& flow) {
  ++(*context.class_of(flow).counters)[Counter::tcps_rcvdupack];
  if (flow.duplicate_acks < UINT8_MAX) ++flow.duplicate_acks;
  if (flow.has(kFastRecovery)) {
    if (!flow.has(kSack)) flow.cwnd += flow.mss;  // RFC 6582 section 3.2 step 3
    return;
  }
  // After a timeout, ACKs of what was resent needlessly look like duplicates (RFC 6582
  // section 4.1).
  if (flow.has(kAfterTimeout)) return;
  bool lost = flow.duplicate_acks >= duplicate_threshold(context, flow);
  if (!lost && flow.has(kSack))
    if (const Extension* extension = context.extension_of(flow); extension != nullptr) {
      uint32_t sacked = 0;
      for (const SequenceRange& range : extension->sacked) sacked += range.end - range.start;
      lost = sacked > (duplicate_threshold(context, flow) - 1) * flow.mss;
    }
  if (lost) enter_recovery(context, flow);
}

void on_new_ack(Context& context, Flow& flow, uint32_t acknowledgment) {
  const uint32_t acked = acknowledgment - flow.snd_una;
  if (flow.has(kAfterTimeout) && !before(acknowledgment, flow.recover)) flow.clear(kAfterTimeout);
  Extension* extension = context.extension_of(flow);
  if (extension != nullptr && !extension->sacked.empty())
    remove_before(extension->sacked, acknowledgment);

  if (flow.has(kFastRecovery)) {
    if (!before(acknowledgment, flow.recover)) {
      flow.cwnd =
          flow.has(kSack)
              ? flow.ssthresh
              : std::min(flow.ssthresh,
                         std::max<uint32_t>(flow.snd_max - acknowledgment, flow.mss) + flow.mss);
      leave_recovery(context, flow);
    } else if (!flow.has(kSack)) {
      // Partial acknowledgment: the next segment is lost too (RFC 6582 section 3.2 step 5).
      resend(context, flow, acknowledgment, flow.snd_max);
      flow.cwnd = flow.cwnd > acked ? flow.cwnd - acked : flow.mss;
      if (acked >= flow.mss) flow.cwnd += flow.mss;
    } else if (extension != nullptr) {
      // The first hole is lost by RFC 6675 section 5 step (B); make sure it is resent.
      if (before(extension->high_retransmit, acknowledgment)) {
        resend(context, flow, acknowledgment, flow.snd_max);
        extension->high_retransmit = acknowledgment + flow.mss;
      }
    }
    return;
  }
  flow.duplicate_acks = 0;
  if (flow.cwnd < flow.ssthresh) {
    flow.cwnd += acked;  // slow start, RFC 5681 (2) counted in bytes (RFC 3465), as Linux does
  } else {
    flow.cwnd += std::max<uint32_t>(
        static_cast<uint32_t>(uint64_t{flow.mss} * acked / std::max<uint32_t>(flow.cwnd, 1)), 1);
  }
  flow.cwnd = std::min<uint32_t>(flow.cwnd, 0x3fff'ffff);
}

void on_retransmission_timeout(Context& context, Flow& flow) {
  if (flow.retransmissions == 1) flow.ssthresh = half_of_flight(flow);  // RFC 5681 section 3.1
  flow.cwnd = flow.mss;
  flow.clear(kFastRecovery);
  flow.clear(kRttTiming);
  flow.set(kAfterTimeout);
  flow.duplicate_acks = 0;
  flow.recover = flow.snd_max;
  flow.snd_nxt = flow.snd_una;
  // RFC 2018 section 8: a receiver may have dropped what it reported.
  if (Extension* extension = context.extension_of(flow)) extension->sacked.clear();
}

uint32_t transmit_in_recovery(Context& context, Flow& flow) {
  Extension* extension = context.extension_of(flow);
  if (extension == nullptr) return 0;
  CounterBlock& counters = *context.class_of(flow).counters;
  for (;;) {
    const Scan state = scan(context, flow, *extension);
    if (state.pipe + flow.mss > flow.cwnd) return 0;
    const uint32_t sequence = state.candidate.start;
    if (!state.found || !resend(context, flow, sequence, state.candidate.end))
      return flow.cwnd - state.pipe;
    const uint32_t resent = std::min<uint32_t>(flow.mss, state.candidate.end - sequence);
    extension->high_retransmit = sequence + resent;
    ++counters[Counter::tcps_sack_rexmits];
    counters[Counter::tcps_sack_rexmit_bytes] += resent;
  }
}

}  // namespace engine::tcp
