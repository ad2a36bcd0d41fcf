#pragma once
// What flows do upon what happens: received frames and expired timers.

#include <span>

#include "astf/open_flows.h"
#include "astf/opener.h"
#include "astf/service.h"
#include "astf/slow_path.h"
#include "astf/strays.h"
#include "net/packet.h"
#include "tcp/tcp.h"

namespace engine {

/// Drives the flows of one data core. Every event takes the same way: TCP says what happened, the
/// program acts upon it, and what is due is sent.
class FlowDriver {
 public:
  /// The parts of the same core; they outlive the driver.
  struct Parts {
    Context& context;
    Classes& classes;
    Listeners& listeners;
    OpenFlows& flows;
    Opener& opener;
    Strays& strays;
    SlowPath& slow_path;
    TableCounts& counts;
    const AttachedRuns& runs;
  };
  explicit FlowDriver(const Parts& parts) : parts_(parts) {}

  /// Takes frames that arrived at one port.
  void receive(Side side, std::span<const Frame> frames);
  /// Takes an expired timer.
  void expire(Flow& flow, TimerKind kind);

  ServiceMode service;  ///< which frames are kept from flows

 private:
  void receive_for_flows(Side side, std::span<const Frame> frames);
  /// `next`: the packet behind one with payload in the burst, when it is of the same flow, else
  /// nullptr.
  void receive_tcp(Side side, const Frame& frame, const Packet& packet, uint32_t hash,
                   const Packet* next);
  void receive_udp(Side side, const Frame& frame, const Packet& packet, uint32_t hash);
  /// A segment of a flow that is open.
  void take_segment(Flow& flow, const Packet& packet, const tcp::Segment& segment,
                    const Packet* next);
  /// A segment of no flow: it opens one, or it is refused.
  void take_stray(Side side, const Frame& frame, const Packet& packet, const tcp::Segment& segment,
                  uint32_t hash);
  /// Opens a server's flow of class `flow_class`. nullptr: there are too many.
  Flow* accept(const Frame& frame, const Packet& packet, uint32_t hash, uint32_t flow_class);
  /// Ends an accepted connection whose template nobody knows.
  void refuse_undecided(Flow& flow);
  /// The program acts upon `events`, and what is due is sent. `answered_later`: the flow's next
  /// segment is at hand and will be answered for this one too. In one piece with the packet's way.
  [[gnu::always_inline]] inline void finish(Flow& flow, tcp::Events events, bool answered_later);

  const Parts parts_;
};

}  // namespace engine
