#pragma once
// Which connection of a run is told of when its flows are sampled.

#include <array>
#include <optional>

#include "tcp/info.h"

namespace engine {

/// Of each side one connection, as in TRex: the first one established while none is watched, to its
/// end. So nothing is done per packet.
class FlowWatch {
 public:
  void established(const Context& context, const Flow& flow) {
    Watched& watched = watched_[index_of(Context::side_of(flow))];
    if (watched.flow != Flow::kNone) return;
    watched = {context.flows.number_of(flow), tcp::beginning_of(context, flow), flow.rcv_nxt,
               context.now, std::nullopt};
  }
  /// The flow gave its place to a record of TIME_WAIT, or a record to a flow.
  void moved(Context& context, uint32_t entry, uint32_t by, Side side) {
    Watched& watched = watched_[index_of(side)];
    if (watched.flow != entry) return;
    // A record does not keep all that is told; it stays as it was when TIME_WAIT began.
    if (!watched.last) watched.last = tcp::info(context, context.flows[entry], watched.beginning);
    watched.flow = by;
  }
  void ended(uint32_t entry, Side side) {
    Watched& watched = watched_[index_of(side)];
    if (watched.flow == entry) watched.flow = Flow::kNone;
  }
  /// The watched one of `side` now.
  std::optional<tcp::Info> look(Context& context, Side side) {
    Watched& watched = watched_[index_of(side)];
    if (watched.flow == Flow::kNone) return std::nullopt;
    if (watched.last) {
      tcp::Info info = *watched.last;
      info.age = context.now - watched.beginning.established;
      info.since_received = context.now - watched.changed;
      return info;
    }
    const Flow& flow = context.flows[watched.flow];
    if (flow.rcv_nxt != watched.received) {
      watched.received = flow.rcv_nxt;
      watched.changed = context.now;
    }
    tcp::Info info = tcp::info(context, flow, watched.beginning);
    info.since_received = context.now - watched.changed;
    return info;
  }

 private:
  struct Watched {
    uint32_t flow = Flow::kNone;  ///< its entry in the flow table
    tcp::Beginning beginning;
    uint32_t received = 0;          ///< rcv_nxt when last looked at
    Nanoseconds changed = 0;        ///< when it was first seen to be this
    std::optional<tcp::Info> last;  ///< of one that has been in a record, when TIME_WAIT began
  };

  std::array<Watched, kSides> watched_;
};

}  // namespace engine
