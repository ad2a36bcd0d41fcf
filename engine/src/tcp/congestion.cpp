// Congestion control: RFC 5681 (NewReno) or RFC 9438 (CUBIC, see cubic.cpp) by cc_algo, RFC 6928
// (initial window), RFC 3168 section 6.1.2 (ECN).

#include <algorithm>

#include "tcp/internal.h"

namespace engine::tcp {

namespace {

bool is_cubic(Context& context, const Flow& flow) {
  return context.class_of(flow).tunables->congestion_control == kCubic;
}

}  // namespace

void reduce_threshold(Context& context, Flow& flow) {
  const uint32_t flight = flight_size(flow);
  const uint32_t reduced =
      is_cubic(context, flow) ? cubic_reduce(context, flow, flight) : flight / 2;
  flow.ssthresh = std::max<uint32_t>(reduced, 2u * flow.mss);  // RFC 5681 equation (4)
  // RFC 3168 section 6.1.2: CWR tells of any reduction, whatever its reason.
  if (flow.has(kEcn)) flow.set(kCongestionWindowReduced);
}

void grow_window(Context& context, Flow& flow, uint32_t acked) {
  if (flow.cwnd < flow.ssthresh) {
    flow.cwnd += acked;  // slow start, RFC 5681 (2) counted in bytes (RFC 3465), as Linux does
  } else if (is_cubic(context, flow)) {
    cubic_grow(context, flow, acked);
  } else {
    flow.cwnd += std::max<uint32_t>(
        static_cast<uint32_t>(uint64_t{flow.mss} * acked / std::max<uint32_t>(flow.cwnd, 1)), 1);
  }
  flow.cwnd = std::min<uint32_t>(flow.cwnd, kLargestWindow);
}

void restart_after_idle(Context& context, Flow& flow) {
  // rtt_tick is when the last timed segment left, at most one round trip before the last of all. No
  // timeout is below kMinRto: most flows need not know theirs.
  const Tick idle = context.tick - flow.rtt_tick;
  if (idle <= ticks_for(kMinRto)) return;
  const uint32_t initial = initial_window(context.class_of(flow), flow);
  if (flow.cwnd <= initial || idle <= ticks_for(retransmission_timeout(flow))) return;
  flow.ssthresh = std::max(flow.ssthresh, flow.cwnd - flow.cwnd / 4);
  flow.cwnd = initial;
}

void on_congestion_echo(Context& context, Flow& flow) {
  // Once in a window of data; while a loss of the same window is repaired, it is dealt with.
  if (flow.has(kEcnReduced) || flow.has(kFastRecovery) || flow.has(kGoingBack)) return;
  ++(*context.class_of(flow).counters)[Counter::tcps_ecn_rcwnd];
  reduce_threshold(context, flow);
  flow.cwnd = flow.ssthresh;
  flow.set(kEcnReduced);
  flow.clear(kProbing);
  flow.recover = flow.snd_max;
}

void go_back(Flow& flow) {
  flow.flags &= ~uint32_t{kFastRecovery | kResendFirst | kEcnReduced | kProbing | kRttTiming};
  flow.set(kGoingBack);
  flow.duplicate_acks = 0;
  flow.recover = flow.snd_max;
  flow.snd_nxt = flow.snd_una;
}

void on_retransmission_timeout(Context& context, Flow& flow) {
  if (flow.retransmissions == 1) reduce_threshold(context, flow);  // RFC 5681 section 3.1
  flow.cwnd = flow.mss;
  go_back(flow);
  // RFC 2018 section 8: a receiver may have dropped what it reported.
  if (Extension* extension = context.extension_of(flow)) {
    extension->sacked.clear();
    extension->cubic.started = false;
    extension->cubic.maximum = 0;  // RFC 9438 section 4.8
  }
}

}  // namespace engine::tcp
