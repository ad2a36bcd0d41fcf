#pragma once
// What flows do upon what happens: received frames and expired timers.

#include <span>

#include "astf/open_flows.h"
#include "astf/opener.h"
#include "astf/other_packets.h"
#include "astf/rx_burst.h"
#include "astf/service.h"
#include "astf/unmatched.h"
#include "tcp/tcp.h"

namespace engine {

/// Drives the flows of one data core. Every event is handled in three steps: TCP says what
/// happened, the program acts upon it, and what is due is sent.
class FlowDriver {
 public:
  FlowDriver(Context& context, Classes& classes, OpenFlows& flows, Opener& opener,
             Unmatched& unmatched, OtherPackets& others, TableCounts& counts)
      : context_(context),
        classes_(classes),
        flows_(flows),
        opener_(opener),
        unmatched_(unmatched),
        others_(others),
        counts_(counts) {}

  /// Processes frames that arrived at one port.
  void receive(Side side, std::span<const Frame> frames);
  /// Handles an expired timer.
  void expire(Flow& flow, TimerKind kind);

  ServiceMode service;  ///< which frames are kept from flows

 private:
  /// A flow that has processed a segment on the slow path, and what came of it; nullptr: nothing is
  /// left to do.
  struct SlowPath {
    Flow* flow = nullptr;
    tcp::Events events = tcp::kNothing;
  };
  void process(Side side, std::span<const RxPacket> packets);
  /// A TCP segment: from its flow to the answer. `end`: of the packets at hand.
  void process_segment(Context& context, Side side, const RxPacket& p, const RxPacket* end);
  /// Has TCP process a segment that is not for the fast path. `flow`: what was found for it.
  SlowPath process_slow_path(Side side, const RxPacket& p, Flow* flow);
  /// The flow of a segment, by the flow table, in the place of its record where it is in TIME_WAIT;
  /// nullptr: there is none.
  Flow* look_up(Side side, const RxPacket& p);
  /// The same for the fast path, which it does not become part of.
  Flow* find_flow(Side side, const RxPacket& p);
  static bool goes_on(const Flow& flow, const RxPacket& p, const RxPacket* end);

  Context& context_;
  Classes& classes_;
  OpenFlows& flows_;
  Opener& opener_;
  Unmatched& unmatched_;
  OtherPackets& others_;
  TableCounts& counts_;
  RxBurst burst_;
};

}  // namespace engine
