#pragma once
// What flows do upon what happens: received frames and expired timers.

#include <span>

#include "astf/open_flows.h"
#include "astf/opener.h"
#include "astf/port_services.h"
#include "astf/rx_burst.h"
#include "astf/service.h"
#include "astf/unmatched.h"
#include "net/path_mtu.h"
#include "tcp/tcp.h"

namespace engine {

/// Drives the flows of one data core. Every event is handled in three steps: TCP says what
/// happened, the program acts upon it, and what is due is sent.
class FlowDriver {
 public:
  /// The parts of the same core; they outlive the driver.
  struct Parts {
    Context& context;
    Classes& classes;
    Listeners& listeners;
    OpenFlows& flows;
    Opener& opener;
    Unmatched& unmatched;
    PortServices& port_services;
    TableCounts& counts;
    const AttachedRuns& runs;
  };
  explicit FlowDriver(const Parts& parts) : parts_(parts) {}

  /// Processes frames that arrived at one port.
  void receive(Side side, std::span<const Frame> frames);
  /// Handles an expired timer.
  void expire(Flow& flow, TimerKind kind);

  /// Takes one step of one TLS handshake, the library's work alone. False: none is due.
  bool begin_handshake_step();
  /// Acts upon what came of it, at the time of its end.
  void end_handshake_step();

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
  /// The first payload of a flow decides on its template, if `p` has it. False: there is none, and
  /// the flow has ended.
  bool decide(Flow& flow, const RxPacket& p, tcp::Events& events);
  /// A segment of no flow: it opens one, or its sender is reset.
  void process_unmatched(Side side, const RxPacket& p);
  /// Opens a server's flow of class `flow_class`, which is `template_side`. nullptr: there are too
  /// many.
  Flow* accept(const RxPacket& p, uint32_t flow_class, TemplateClass& template_side);
  /// Ends an accepted connection whose template nobody knows.
  void refuse_undecided(Flow& flow);
  static bool goes_on(const Flow& flow, const RxPacket& p, const RxPacket* end);

  /// What is no TCP, or has no flow by its nature.
  void process_other(Side side, const RxPacket& p);
  void process_udp(Side side, const RxPacket& p);
  /// A router says that a packet was too long for its path.
  void process_path_mtu(Side side, const RxPacket& p);
  /// The flow that sent `packet`; nullptr: none did.
  Flow* sender_of(Side side, const TooLongPacket& packet);

  const Parts parts_;
  RxBurst burst_;
  Flow* steps_ = nullptr;  ///< whose handshake takes a step
  size_t next_run_ = 0;    ///< that may take the next one
};

}  // namespace engine
