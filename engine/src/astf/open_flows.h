#pragma once
// How flows begin and end on one data core, whoever opens them.

#include <cstddef>
#include <memory>
#include <vector>

#include "astf/classes.h"
#include "astf/listeners.h"
#include "astf/run.h"
#include "flow/context.h"

namespace engine {

/// Runs that a data core has, in the order they were attached.
using AttachedRuns = std::vector<std::unique_ptr<ProfileRun>>;

class OpenFlows {
 public:
  OpenFlows(Context& context, Classes& classes, Listeners& listeners)
      : context_(context), classes_(classes), listeners_(listeners) {}

  /// Identity and class (`flow_class`, which is `template_side`) of a new flow, entered into the
  /// table under `key`, which is that of the addresses. nullptr: there are as many flows as there
  /// may be. Always inlined.
  Flow* make(const FlowKey& key, const IpAddress& remote, const IpAddress& local,
             uint32_t flow_class, TemplateClass& template_side, uint16_t l2_header, Side side,
             bool with_variables);
  /// Gives back all that a flow holds; counts it closed.
  void release(Flow& flow);

  /// A flow that begins TIME_WAIT gives back all that a record of it does not need.
  void begin_time_wait(Flow& flow);
  /// The flow of a connection in TIME_WAIT that has a segment to take, in the place of its record.
  Flow& restore(uint32_t record);
  /// Ends connections whose TIME_WAIT is over, at most `budget`. Returns how many.
  size_t end_time_waits(size_t budget);

  /// From now on flows of `run` are aborted: they end without a word.
  void begin_aborting(ProfileRun& run);
  /// Looks at `budget` flows and records at most, to abort those of runs that are closing. Returns
  /// at how many.
  size_t abort_some(AttachedRuns& runs, size_t budget);
  bool aborting() const { return closing_ != 0; }
  /// A flow that is about to act. True: its run is closing, and instead of acting it is gone.
  bool abort_instead(Flow& flow) {
    if (closing_ == 0) [[likely]]
      return false;
    if (classes_.of(flow).run->phase != RunPhase::closing) return false;
    abort(flow);
    return true;
  }

  /// From whose pool a client's flow has its port.
  uint32_t client_range_of(const Flow& flow);

 private:
  void abort(Flow& flow);
  void give_back_extension(const TemplateClass& template_side, Flow& flow);
  /// Puts an entry of the flow table in the place of another one: a flow and its record. Returns
  /// their class.
  TemplateClass& replace(const Flow& flow, uint32_t entry, uint32_t by);
  /// Ends a connection in TIME_WAIT.
  void release_wait(const TimeWaits::Numbered& ended);
  /// Looks at one flow or record ahead in the pools, of which `run` has some yet. True: it was the
  /// run's, and is gone.
  bool abort_next(ProfileRun& run);
  /// `flow` ends: whoever waits for it goes on.
  void unlink(const Flow& flow);
  /// A program opened it, not the schedule: limits do not count it.
  bool executed(const Flow& flow) const {
    return flow.variables != Flow::kNone &&
           context_.variables[flow.variables].client_range != VariableBlock::kNone;
  }

  Context& context_;
  Classes& classes_;
  Listeners& listeners_;
  uint32_t closing_ = 0;  ///< runs in that phase
};

[[gnu::always_inline]] inline Flow* OpenFlows::make(const FlowKey& key, const IpAddress& remote,
                                                    const IpAddress& local, uint32_t flow_class,
                                                    TemplateClass& template_side,
                                                    uint16_t l2_header, Side side,
                                                    bool with_variables) {
  if (context_.open_flows() == context_.most_flows) return nullptr;
  const uint32_t number = context_.flows.take();
  Flow& flow = context_.flows[number];
  static_cast<FlowKey&>(flow) = key;
  flow.flow_class = flow_class;
  flow.state = key.datagram() ? FlowState::datagram : FlowState::syn_sent;
  flow.wait = Wait::nothing;
  flow.flags = side == Side::server ? uint32_t{kServerSide} : 0;
  if (key.ipv6()) [[unlikely]] {
    flow.set(kIpv6);
    flow.prefixes = context_.prefixes.take(remote, local);
  }
  flow.l2_header = l2_header;
  flow.timer_slot = TimerWheel::kNowhere;
  flow.armed = 0;
  flow.extension = Flow::kNone;
  flow.variables = Flow::kNone;
  flow.program_counter = 0;
  flow.rx_available = 0;
  if (with_variables) [[unlikely]]
    context_.add_variables(flow);
  ++template_side.run->open_flows[index_of(side)];
  context_.tables[index_of(side)].insert(number, flow);
  return &flow;
}

}  // namespace engine
