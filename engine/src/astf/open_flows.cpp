#include "astf/open_flows.h"

#include "program/interpreter.h"

namespace engine {

Flow* OpenFlows::make(const FlowKey& key, uint32_t hash, uint32_t flow_class, uint16_t path,
                      Side side, bool with_variables) {
  const uint32_t number = context_.flows.take();
  if (number == Flow::kNone) return nullptr;
  Flow& flow = context_.flows[number];
  flow.remote = key.remote;
  flow.local = key.local;
  flow.remote_port = key.remote_port;
  flow.local_port = key.local_port;
  flow.flow_class = flow_class;
  flow.state = key.datagram ? FlowState::datagram : FlowState::syn_sent;
  flow.wait = Wait::nothing;
  flow.flags = side == Side::server ? uint32_t{kServerSide} : 0;
  flow.path = path;
  flow.timer_slot = TimerWheel::kNowhere;
  flow.armed = 0;
  flow.extension = Flow::kNone;
  flow.variables = Flow::kNone;
  flow.rx_available = 0;
  if (with_variables) context_.add_variables(flow);
  ++classes_[flow_class].open_flows;
  context_.tables[index_of(side)].insert(flow, hash);
  return &flow;
}

void OpenFlows::release(Flow& flow) {
  if (classes_.of(flow).undecided != nullptr) listeners_.give_up(flow);
  TemplateClass& shared = classes_.of(flow);
  ProfileRun& run = *shared.run;
  ++(*shared.counters)[flow.state == FlowState::datagram ? Counter::udps_closed
                                                         : Counter::tcps_closed];
  context_.wheel.remove(flow);
  context_.tables[index_of(shared.side)].erase(flow);
  if (flow.extension != Flow::kNone) context_.extensions.give_back(flow.extension);
  if (flow.has(kPortOwned)) {
    run.clients(client_range_of(flow)).give_back(flow.local.low32(), flow.local_port);
    if (!executed(flow)) run.count_close(shared.template_index);
  }
  if (flow.variables != Flow::kNone) {
    unlink(flow);
    context_.variables.give_back(flow.variables);
  }
  --shared.open_flows;
  const uint32_t number = context_.flows.number_of(flow);
  run.watch.ended(number, shared.side);
  flow.state = FlowState::free;
  context_.flows.give_back(number);
}

void OpenFlows::begin_cutting(ProfileRun& run) {
  run.phase = RunPhase::closing;
  ++closing_;
}

// A run that is closing gets no new flows, so all that it still has are ahead in the pool.
size_t OpenFlows::cut_some(AttachedRuns& runs, size_t budget) {
  size_t looked_at = 0;
  for (const auto& run : runs) {
    if (run->phase != RunPhase::closing) continue;
    uint64_t left = run->open_flows(Side::client) + run->open_flows(Side::server);
    for (; left != 0 && looked_at < budget; ++looked_at) {
      Flow& flow = context_.flows[run->next_to_cut++];
      if (flow.state == FlowState::free || classes_.of(flow).run != run.get()) continue;
      cut(flow);
      --left;
    }
    if (left != 0) continue;
    run->phase = RunPhase::closed;
    --closing_;
  }
  return looked_at;
}

void OpenFlows::cut(Flow& flow) {
  if (flow.state != FlowState::datagram) ++(*classes_.of(flow).counters)[Counter::tcps_testdrops];
  release(flow);
}

void OpenFlows::unlink(const Flow& flow) {
  const VariableBlock& block = context_.variables[flow.variables];
  if (block.child != Flow::kNone)
    context_.variables[context_.flows[block.child].variables].parent = Flow::kNone;
  if (block.parent == Flow::kNone) return;
  Flow& parent = context_.flows[block.parent];
  VariableBlock& waiting = context_.variables[parent.variables];
  waiting.child = Flow::kNone;
  if (block.next_group != 0) waiting.next_group = block.next_group;  // as the flow chose
  program::resume(context_, parent);
}

uint32_t OpenFlows::client_range_of(const Flow& flow) {
  if (executed(flow)) return context_.variables[flow.variables].client_range;
  const TemplateClass& shared = classes_.of(flow);
  return shared.run->profile().templates[shared.template_index].client_range;
}

}  // namespace engine
