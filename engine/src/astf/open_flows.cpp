#include "astf/open_flows.h"

#include <array>

#include "program/interpreter.h"
#include "tcp/tcp.h"

namespace engine {

void OpenFlows::give_back_extension(const TemplateClass& template_side, Flow& flow) {
  if (template_side.tls() != nullptr) template_side.tls()->release(context_, flow);
  context_.extensions.give_back(flow.extension);
}

void OpenFlows::release(Flow& flow) {
  if (classes_.of(flow).undecided != nullptr) [[unlikely]]
    listeners_.give_up(flow);
  TemplateClass& template_side = classes_.of(flow);
  ProfileRun& run = *template_side.run;
  CounterBlock& counters = *template_side.counters;
  ++counters[flow.state == FlowState::datagram ? Counter::udps_closed : Counter::tcps_closed];
  if (!flow.has(kEverEstablished)) [[unlikely]]
    ++counters[Counter::closed_half_open];
  context_.wheel.remove(flow);
  FlowTable& table = context_.tables[index_of(template_side.side)];
  const uint32_t number = context_.flows.number_of(flow);
  table.erase(number, flow);
  if (flow.ipv6()) context_.prefixes.give_back(flow.prefixes);
  if (flow.extension != Flow::kNone) give_back_extension(template_side, flow);
  if (flow.has(kPortOwned)) {
    run.clients(client_range_of(flow)).give_back(flow.local_low32(), flow.local_port());
    if (!executed(flow)) run.count_close(template_side.template_index);
  }
  if (flow.variables != Flow::kNone) {
    unlink(flow);
    context_.variables.give_back(flow.variables);
  }
  --run.open_flows[index_of(template_side.side)];
  run.sampler.ended(number, template_side.side);
  flow.state = FlowState::free;
  flow.flags = 0;
  context_.flows.give_back(number);
}

[[gnu::always_inline]] inline TemplateClass& OpenFlows::replace(const Flow& flow, uint32_t entry,
                                                                uint32_t by) {
  TemplateClass& template_side = classes_.of(flow);
  context_.tables[index_of(template_side.side)].replace(entry, by, flow);
  template_side.run->sampler.moved(context_, entry, by, template_side.side);
  return template_side;
}

void OpenFlows::begin_time_wait(Flow& flow) {
  // Where a program waits for the end of this flow, the flow stays as it is.
  const uint32_t record = executed(flow) ? TimeWaits::kNone : tcp::wait_as_record(context_, flow);
  if (record == TimeWaits::kNone) {
    tcp::wait_as_flow(context_, flow);
    return;
  }
  const uint32_t number = context_.flows.number_of(flow);
  TemplateClass& template_side = replace(flow, number, FlowTable::entry_of_wait(record));
  if (flow.extension != Flow::kNone) give_back_extension(template_side, flow);
  if (flow.variables != Flow::kNone) context_.variables.give_back(flow.variables);
  flow.state = FlowState::free;
  flow.flags = 0;
  context_.flows.give_back(number);
}

Flow& OpenFlows::restore(uint32_t record) {
  const uint32_t number = context_.flows.take();  // the record was one of the flows there may be
  Flow& flow = context_.flows[number];
  tcp::restore(context_, record, flow);
  replace(flow, FlowTable::entry_of_wait(record), number);
  context_.waits.remove(context_.waits[record]);
  return flow;
}

[[gnu::always_inline]] inline void OpenFlows::release_wait(const TimeWaits::Numbered& ended) {
  FlowHead& wait = *ended.record;
  TemplateClass& template_side = classes_[wait.flow_class];
  ProfileRun& run = *template_side.run;
  ++(*template_side.counters)[Counter::tcps_closed];
  const uint32_t entry = FlowTable::entry_of_wait(ended.number);
  context_.tables[index_of(template_side.side)].erase(entry, wait);
  if (wait.ipv6()) context_.prefixes.give_back(wait.prefixes);
  if (template_side.side == Side::client) {
    run.clients(template_side.client_range).give_back(wait.local_low32(), wait.local_port());
    run.count_close(template_side.template_index);
  }
  --run.open_flows[index_of(template_side.side)];
  run.sampler.ended(entry, template_side.side);
  context_.waits.remove(wait);
}

// Some at a time, so that their places in the table are in the cache when they are looked at.
size_t OpenFlows::end_time_waits(size_t budget) {
  constexpr size_t kAhead = 32;
  std::array<TimeWaits::Numbered, kAhead> room;
  std::array<const uint32_t*, kAhead> buckets;
  size_t ended = 0;
  while (ended < budget) {
    const std::span<TimeWaits::Numbered> due = context_.waits.due(context_.tick, room);
    for (size_t i = 0; i < due.size(); ++i) {
      const FlowHead& wait = *due[i].record;
      const FlowTable& table = context_.tables[index_of(classes_[wait.flow_class].side)];
      buckets[i] = table.bucket(wait.hash);
      __builtin_prefetch(buckets[i]);
    }
    for (size_t i = 0; i < due.size(); ++i) context_.prefetch_identity(*buckets[i]);
    for (size_t i = 0; i < due.size(); ++i) release_wait(due[i]);
    ended += due.size();
    if (due.size() < kAhead) break;
  }
  return ended;
}

void OpenFlows::begin_aborting(ProfileRun& run) {
  run.phase = RunPhase::closing;
  ++closing_;
}

// A run that is closing gets no new flows, so all that it still has are ahead in the pools.
size_t OpenFlows::abort_some(AttachedRuns& runs, size_t budget) {
  size_t looked_at = 0;
  for (const auto& run : runs) {
    if (run->phase != RunPhase::closing) continue;
    uint64_t left = run->open_flows[0] + run->open_flows[1];
    for (; left != 0 && looked_at < budget; ++looked_at)
      if (abort_next(*run)) --left;
    if (left != 0) continue;
    run->phase = RunPhase::closed;
    --closing_;
  }
  return looked_at;
}

bool OpenFlows::abort_next(ProfileRun& run) {
  if (run.next_to_abort < context_.flows.used()) {
    Flow& flow = context_.flows[run.next_to_abort++];
    if (flow.state == FlowState::free || classes_.of(flow).run != &run) return false;
    abort(flow);
    return true;
  }
  const uint32_t record = run.next_wait_to_abort++;
  FlowHead& wait = context_.waits[record];
  if (wait.state == FlowState::free || classes_[wait.flow_class].run != &run) return false;
  release_wait({&wait, record});
  return true;
}

void OpenFlows::abort(Flow& flow) {
  const bool complete = flow.state == FlowState::datagram || flow.state == FlowState::time_wait;
  if (!complete) ++(*classes_.of(flow).counters)[Counter::tcps_testdrops];
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
  return classes_.of(flow).client_range;
}

}  // namespace engine
