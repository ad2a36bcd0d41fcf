#pragma once
// What flows do upon what happens: received frames and expired timers.

#include <span>

#include "astf/arrivals.h"
#include "astf/open_flows.h"
#include "astf/opener.h"
#include "astf/service.h"
#include "astf/slow_path.h"
#include "astf/strays.h"
#include "net/packet.h"
#include "net/path_mtu.h"
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
  /// A flow that took a segment, and what came of it; nullptr: nothing is left to do.
  struct Took {
    Flow* flow = nullptr;
    tcp::Events events = tcp::kNothing;
  };
  void receive_for_flows(Side side, std::span<const Frame> frames);
  void take(Side side, const Frame* frame, std::span<Arrival> arrivals);
  void take_while_cutting(Side side, const Frame* frame, std::span<Arrival> arrivals);
  /// `end`: of the frames at hand; `kStamped`: of what form.
  template <bool kStamped>
  void receive_plain(Side side, const Frame& frame, Arrival& p, const Arrival* end);
  /// The flow of a plain segment; nullptr: there is none, or a record of TIME_WAIT.
  Flow* find_plain(Side side, const Arrival& p);
  void receive_unstamped(Side side, const Frame& frame, Arrival& p, const Arrival* end);
  /// A plain SYN, which opens a flow or finds no room for one, or SYN-ACK.
  template <bool kStamped>
  Took take_plain_syn(Side side, const Frame& frame, const Arrival& p);
  /// A segment that is not plain, or that belongs to no flow.
  void receive_generally(Side side, const Frame& frame, Arrival& p, const Arrival* end);
  Took take_generally(Side side, const Frame& frame, Arrival& p);
  void receive_other(Side side, const Frame& frame, const Arrival& p);
  /// A frame that is neither TCP nor UDP, or that service mode keeps from flows.
  void receive_slowly(Side side, const Frame& frame);
  /// The flow that sent `packet`; nullptr: none did.
  Flow* sender_of(Side side, const TooLongPacket& packet);
  /// A router says that a packet was too long for its path.
  void take_path_mtu(Side side, const Frame& frame);
  void receive_udp(Side side, const Frame& frame, const Arrival& p);
  /// A segment of a flow that is open.
  Took take_segment(Flow& flow, const Packet& packet, const tcp::Segment& segment);
  /// A segment of no flow: it opens one, or it is refused.
  void take_stray(Side side, const Frame& frame, const Arrival& p, const tcp::Segment& segment);
  /// Opens a server's flow of class `flow_class`, which is `shared`. nullptr: there are too many.
  Flow* accept(const Frame& frame, const FlowKey& key, uint32_t hash, uint32_t flow_class,
               TemplateClass& shared);
  /// Ends an accepted connection whose template nobody knows.
  void refuse_undecided(Flow& flow);
  /// The program acts upon what came of segment `p`, and what is due is sent, unless the next one
  /// goes on where it ends, and will be answered for both. `kPlain`: whether it took the plain way,
  /// of which form (`kStamped`), and is answered so; in one piece with that.
  template <bool kPlain, bool kStamped>
  void act_upon(Context& context, FlowClass& of_flow, Flow& flow, tcp::Events events,
                const Arrival& p, const Arrival* end);
  static bool goes_on(const Flow& flow, const Arrival& p, const Arrival* end);

  const Parts parts_;
  Arrivals arrivals_;
};

}  // namespace engine
