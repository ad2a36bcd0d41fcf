// Flows that a program opens (exec_template): the client's address is kept, and the program goes on
// when the flow has ended.

#include "astf/world.h"

namespace engine {

void DataCore::World::execute(Flow& parent) {
  ProfileRun& run = run_of(parent);
  VariableBlock& block = context.variables[parent.variables];
  CounterBlock& counters = *context.class_of(parent).counters;
  const uint32_t group = block.next_group;
  ++counters[Counter::flows_total];
  if (block.last_group != 0 && block.last_group != group) ++counters[Counter::flows_other];
  block.last_group = group;

  const std::vector<uint32_t>& templates = run.templates_of(group);
  Start start{.intended = context.now};
  if (!templates.empty())
    start.template_index = templates[context.random.between(0, templates.size() - 1)];
  const bool opened =
      !templates.empty() && prepare(run, start, &parent) && open_flow(run, start, &parent);
  // A flow that could not be opened is over; the counter of the refusal tells why.
  if (!opened) program::resume(context, parent);
}

void DataCore::World::unlink(const Flow& flow) {
  const VariableBlock& block = context.variables[flow.variables];
  if (block.child != Flow::kNone)
    context.variables[context.flows[block.child].variables].parent = Flow::kNone;
  if (block.parent == Flow::kNone) return;
  Flow& parent = context.flows[block.parent];
  VariableBlock& waiting = context.variables[parent.variables];
  waiting.child = Flow::kNone;
  if (block.next_group != 0) waiting.next_group = block.next_group;  // as the flow chose
  program::resume(context, parent);
}

uint32_t DataCore::World::client_range_of(const Flow& flow) {
  if (executed(flow)) return context.variables[flow.variables].client_range;
  const ProfileRun& run = run_of(flow);
  return run.profile().templates[class_of(flow).template_index].client_range;
}

}  // namespace engine
