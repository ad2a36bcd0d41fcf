#pragma once
// Who answers: server templates on their ports, and the choice among those that share one (l7_map).

#include "astf/classes.h"
#include "astf/run.h"
#include "astf/server_table.h"
#include "flow/pool.h"
#include "net/rx_segment.h"

namespace engine {

/// The server templates of all runs on one data core. The template of a TCP flow may be known only
/// when its first payload comes. Until then the flow is undecided: it has a class of its own.
class Listeners {
 public:
  static constexpr uint32_t kNone = ServerTable::kNone;

  /// Every flow may be undecided, and one more until it is known that there is no room for it.
  Listeners(Context& context, Classes& classes)
      : context_(context), classes_(classes), undecided_(context.most_flows + 1) {}

  /// Has the servers of `run` listen. Throws ProfileError, and nothing has changed, when a port is
  /// taken.
  void add(ProfileRun& run);
  /// They listen no more; open flows go on.
  void remove(const ProfileRun& run);

  /// The class of a flow that a SYN to this port and address (its low 32 bits) begins; kNone:
  /// nobody listens there.
  uint32_t find_tcp(uint16_t port, uint32_t address) {
    const uint32_t decided = servers_.find_decided(true, port, address);
    return decided != ServerTable::kUndecided ? decided : find_among(port, address);
  }
  /// The same of a datagram.
  uint32_t find_udp(const RxSegment& packet) const;
  /// No flow could be opened for what these returned.
  void give_back(uint32_t number);
  /// The flow's first payload is `packet`: finds its template. False: there is none.
  bool choose(Flow& flow, const RxSegment& packet);
  /// An undecided flow ends: it is counted with one of the templates in question.
  void give_up(Flow& flow) { decide(flow, classes_.of(flow).undecided->reference); }
  /// Classes of undecided flows.
  const Pool<UndecidedClass>& undecided() const { return undecided_; }

 private:
  /// The same where a payload may decide.
  uint32_t find_among(uint16_t port, uint32_t address);
  /// A class for a flow of which only the port and the address are known. `reference`: any of the
  /// templates in question.
  uint32_t take_undecided(uint32_t reference);
  void give_back(UndecidedClass& unused);
  /// Makes an undecided flow one of class `number`.
  void decide(Flow& flow, uint32_t number);
  /// `own`: the class of `source`, of TCP, which is not added yet.
  void check_alike(const TemplateClass& own, const Template& source) const;

  Context& context_;
  Classes& classes_;
  ServerTable servers_;
  Pool<UndecidedClass> undecided_;
};

}  // namespace engine
