#pragma once
// Segments that match no flow, and how they are answered.

#include "astf/ignored.h"
#include "astf/table_counts.h"
#include "flow/context.h"
#include "tcp/tcp.h"

namespace engine {

class Unmatched {
 public:
  Unmatched(Context& context, TableCounts& counts) : context_(context), counts_(counts) {}

  /// Resets the sender, unless it is to be ignored.
  void reset(Side side, const RxSegment& segment) {
    CounterBlock& counters = counts_.of(side);
    const L2Header back = reply_header(*segment.frame);
    if (ignored.has(back.destination)) {
      ++counters[Counter::ignored_macs];
    } else if (ignored.has(segment.source().low32())) {
      ++counters[Counter::ignored_ips];
    } else {
      tcp::send_reset(context_, side, segment, back, tunables);
    }
  }

  Tunables tunables;  ///< of the run attached last
  Ignored ignored;

 private:
  Context& context_;
  TableCounts& counts_;
};

}  // namespace engine
