#pragma once
// Which connection of a run is told of when its flows are sampled.

#include <array>
#include <optional>

#include "tcp/info.h"

namespace engine {

/// Of each side one connection, as in TRex: the first one established while none is sampled, to its
/// end. So nothing is done per packet.
class FlowSampler {
 public:
  void established(const Context& context, const Flow& flow) {
    Sampled& sampled = sampled_[index_of(Context::side_of(flow))];
    if (sampled.flow != Flow::kNone) return;
    sampled = {context.flows.number_of(flow), tcp::beginning_of(context, flow), flow.rcv_nxt,
               context.now, std::nullopt};
  }
  /// The flow gave its place to a record of TIME_WAIT, or a record to a flow.
  void moved(Context& context, uint32_t entry, uint32_t by, Side side) {
    Sampled& sampled = sampled_[index_of(side)];
    if (sampled.flow != entry) return;
    // A record does not keep all that is told; it stays as it was when TIME_WAIT began.
    if (!sampled.last) sampled.last = tcp::info(context, context.flows[entry], sampled.beginning);
    sampled.flow = by;
  }
  void ended(uint32_t entry, Side side) {
    Sampled& sampled = sampled_[index_of(side)];
    if (sampled.flow == entry) sampled.flow = Flow::kNone;
  }
  /// The sampled one of `side` now.
  std::optional<tcp::Info> sample(Context& context, Side side) {
    Sampled& sampled = sampled_[index_of(side)];
    if (sampled.flow == Flow::kNone) return std::nullopt;
    if (sampled.last) {
      tcp::Info info = *sampled.last;
      info.age = context.now - sampled.beginning.established;
      info.since_received = context.now - sampled.changed;
      return info;
    }
    const Flow& flow = context.flows[sampled.flow];
    if (flow.rcv_nxt != sampled.received) {
      sampled.received = flow.rcv_nxt;
      sampled.changed = context.now;
    }
    tcp::Info info = tcp::info(context, flow, sampled.beginning);
    info.since_received = context.now - sampled.changed;
    return info;
  }

 private:
  struct Sampled {
    uint32_t flow = Flow::kNone;  ///< its entry in the flow table
    tcp::Beginning beginning;
    uint32_t received = 0;          ///< rcv_nxt when last looked at
    Nanoseconds changed = 0;        ///< when it was first seen to be this
    std::optional<tcp::Info> last;  ///< of one that has been in a record, when TIME_WAIT began
  };

  std::array<Sampled, kSides> sampled_;
};

}  // namespace engine
