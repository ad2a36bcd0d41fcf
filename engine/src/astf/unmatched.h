#pragma once
// Packets of no flow: they begin one, or their sender is answered.

#include "astf/classes.h"
#include "astf/ignored.h"
#include "astf/listeners.h"
#include "astf/open_flows.h"
#include "astf/rx_burst.h"
#include "astf/table_counts.h"
#include "flow/context.h"
#include "tcp/tcp.h"

namespace engine {

class Unmatched {
 public:
  Unmatched(Context& context, Classes& classes, Listeners& listeners, OpenFlows& flows,
            const AttachedRuns& runs, TableCounts& counts)
      : context_(context),
        classes_(classes),
        listeners_(listeners),
        flows_(flows),
        runs_(runs),
        counts_(counts) {}

  /// A segment of no flow: it opens one, or its sender is reset.
  void process(Side side, const RxPacket& p);
  /// The flow that a datagram of no flow begins. nullptr: none, and why is counted.
  Flow* begin_datagrams(Side side, const RxPacket& p);

  /// The first payload of a flow decides on its template, if `p` has it. False: there is none, and
  /// the flow has ended.
  bool decide(Flow& flow, const RxPacket& p, tcp::Events& events);
  /// Ends an accepted connection whose template nobody knows.
  void refuse_undecided(Flow& flow);

  Tunables tunables;  ///< of the run attached last
  Ignored ignored;

 private:
  /// Opens a server's flow of class `flow_class`, which is `template_side`. nullptr: there are too
  /// many.
  Flow* accept(const RxPacket& p, uint32_t flow_class, TemplateClass& template_side);
  /// Counts a segment that opens nothing, and `why`. Resets its sender if it `answers`, unless the
  /// sender is to be ignored.
  void refuse(Side side, const RxSegment& segment, Counter why, bool answers);

  Context& context_;
  Classes& classes_;
  Listeners& listeners_;
  OpenFlows& flows_;
  const AttachedRuns& runs_;
  TableCounts& counts_;
};

}  // namespace engine
