#pragma once
// What only few flows need at a time, kept apart so that the others stay small.

#include <cstdint>
#include <vector>

#include "flow/timer_kind.h"
#include "net/tcp_header.h"

namespace engine {

/// A buffer waiting behind the one being sent (non-blocking tx).
struct QueuedBuffer {
  uint32_t buffer;
  uint32_t base;  ///< sequence number of its first byte
};

/// What CUBIC remembers of the last reduction and the congestion avoidance stage since, RFC 9438
/// section 4.1; windows in segments.
struct Cubic {
  bool started = false;  ///< the stage has begun
  Tick epoch = 0;        ///< when
  float before = 0;      ///< cwnd_prior: window before the reduction
  float maximum = 0;     ///< W_max; 0: never reduced
  float inflection = 0;  ///< K: seconds until the window is W_max again
  float estimate = 0;    ///< W_est: what Reno would have
};

/// Out-of-order data (as ranges: content is known, only arrival counts), the SACK scoreboard, and
/// queued buffers of one flow. Vectors keep their memory when the extension is used again.
struct Extension {
  std::vector<SequenceRange> out_of_order;  ///< received beyond rcv_nxt; sorted, disjoint
  std::vector<SequenceRange> sacked;        ///< sent, reported received by SACK; sorted, disjoint
  std::vector<QueuedBuffer> queue;          ///< oldest first
  std::vector<uint32_t> reported;           ///< starts of the SACK blocks that were sent first, the
                                            ///< latest in front; of delivered blocks too
  uint32_t high_retransmit = 0;             ///< RFC 6675 HighRxt
  uint32_t lost_before = 0;                 ///< in recovery: holes before it are lost by time
  Cubic cubic;
  uint64_t stream_position = 0;    ///< payload check: bytes received in order, of the whole flow,
  uint32_t stream_sequence = 0;    ///< ... before this sequence number
  uint32_t out_of_order_peak = 0;  ///< most ranges held, for the tcps_reas_hist counters
  uint32_t fin_sequence = 0;       ///< of a FIN received out of order
  bool rescued = false;            ///< RFC 6675 RescueRxt is used up
  bool has_fin = false;
  bool follows_stream = false;           ///< stream_sequence is set
  bool mismatched = false;               ///< payload check: a byte was not as expected
  bool reassembling = false;             ///< counted in tcps_reasalloc, not yet in tcps_reasfree
  uint32_t tls_connection = UINT32_MAX;  ///< UINT32_MAX: none
  uint32_t next_free = 0;

  uint32_t& pool_next() { return next_free; }
  void reset() {
    tls_connection = UINT32_MAX;
    out_of_order.clear();
    sacked.clear();
    queue.clear();
    reported.clear();
    high_retransmit = 0;
    out_of_order_peak = 0;
    cubic = {};
    has_fin = false;
    stream_position = 0;
    follows_stream = false;
    mismatched = false;
    reassembling = false;
  }
};

/// What a program keeps in mind, if it does: variables and tick variables (TRex: set_var,
/// set_tick_var ...), and of flows that others open (exec_template) who waits for whom.
struct VariableBlock {
  static constexpr uint32_t kNone = UINT32_MAX;

  uint64_t values[5] = {};
  int64_t times[5] = {};          ///< Nanoseconds
  uint32_t next_group = 0;        ///< of the next exec_template; 0: none
  uint32_t last_group = 0;        ///< of the one before
  uint32_t parent = kNone;        ///< the flow that waits for this one to end
  uint32_t child = kNone;         ///< the flow whose end this one waits for
  uint32_t client_range = kNone;  ///< of a flow opened by another: whose pool its port is from
  uint32_t next_free = 0;

  uint32_t& pool_next() { return next_free; }
};

}  // namespace engine
