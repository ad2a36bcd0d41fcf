#pragma once
// Segments that belong to no flow, and how they are answered.

#include "astf/ignored.h"
#include "astf/table_counts.h"
#include "flow/context.h"
#include "tcp/tcp.h"

namespace engine {

class Strays {
 public:
  Strays(Context& context, TableCounts& counts) : context_(context), counts_(counts) {}

  /// Resets the sender, unless it is to be ignored.
  void refuse(Side side, const Frame& frame, const Packet& packet, const tcp::Segment& segment) {
    CounterBlock& counters = counts_.of(side);
    const Path back = reply_path(frame);
    if (ignored.has(back.destination)) {
      ++counters[Counter::ignored_macs];
    } else if (ignored.has(packet.source.low32())) {
      ++counters[Counter::ignored_ips];
    } else {
      tcp::refuse(context_, side, packet, segment, back, tunables);
    }
  }

  Tunables tunables;  ///< of the run attached last
  Ignored ignored;

 private:
  Context& context_;
  TableCounts& counts_;
};

}  // namespace engine
