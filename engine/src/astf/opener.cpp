#include "astf/opener.h"

#include <algorithm>

#include "flow/latency.h"
#include "program/interpreter.h"
#include "tcp/tcp.h"
#include "udp/udp.h"

namespace engine {

namespace {

/// Flows opened in one pass at most, so that a burst of due starts does not delay received frames.
constexpr size_t kOpensPerPass = 64;
/// Of those, prepared together.
constexpr size_t kStartsAhead = 32;
static_assert(kOpensPerPass % kStartsAhead == 0);
/// A start later than this is counted late.
constexpr Nanoseconds kLate = 1 * kMillisecond;
/// How long a refused replacement of a held flow waits.
constexpr Nanoseconds kHeldRetry = 1 * kMillisecond;

IpAddress address_of(const std::array<uint32_t, 3>& msb, uint32_t low, bool ipv6) {
  if (!ipv6) return IpAddress::v4(low);
  return {uint64_t{msb[0]} << 32 | msb[1], uint64_t{msb[2]} << 32 | low};
}

}  // namespace

void Opener::stop(ProfileRun& run) {
  const uint64_t before = run.unsent;
  run.stop_opening(context_.now);
  counts_.dropped(Side::client)[Drop::start_too_late] += run.unsent - before;
  run.phase = RunPhase::draining;
}

inline bool Opener::prepare(ProfileRun& run, Start& start, const Flow* parent) {
  const Template& source = run.profile().templates[start.template_index];
  start.client_range = parent == nullptr ? source.client_range : flows_.client_range_of(*parent);
  ClientPool& clients = run.clients(start.client_range);
  uint16_t port = 0;
  if (parent == nullptr && !disabled_clients.empty() && !clients.pass_over(disabled_clients)) {
    ++counts_.dropped(Side::client)[Drop::no_client_enabled];
    return false;
  }
  const FlowClass& template_side = run.flow_class(Side::client, start.template_index);
  const Tunables& tunables = *template_side.tunables;
  const uint32_t server = run.servers(source.server_range).take();
  const IpAddress remote = address_of(tunables.destination_msb, server, tunables.ipv6);
  uint16_t rest = 0;
  if (clients.steering().shared())
    rest = Steering::fold(remote, address_of(tunables.source_msb, 0, tunables.ipv6)) ^
           source.destination_port;
  const uint32_t client = parent == nullptr ? clients.next_address() : parent->local_low32();
  if (!clients.take_port(client, port, rest)) {
    ++counts_.of(Side::client)[Counter::err_c_tuple_err];
    return false;
  }
  start.remote = remote;
  start.local = address_of(tunables.source_msb, client, tunables.ipv6);
  start.key = context_.tables[index_of(Side::client)].key(
      remote, start.local, source.destination_port, port, !template_side.program->stream);
  return true;
}

size_t Opener::open_due(ProfileRun& run, Nanoseconds now) {
  const Nanoseconds reached = run.schedule().reached(now);
  std::array<Start, kStartsAhead> room;
  size_t count = 0;
  size_t due;
  do {
    for (due = 0; due < room.size() && !run.draw().empty(); ++due) {
      Start& start = room[due];
      if (!run.schedule().take(reached, start.intended)) break;
      start.template_index = run.draw().draw();
      run.count_open(start.template_index);
    }
    const std::span<Start> starts = std::span(room).first(due);
    open(run, starts, nullptr);
    for (const Start& start : starts) {
      if (start.opened) {
        ++run.opened;
        if (now - start.intended > kLate) ++run.late;
      } else {
        run.uncount_open(start.template_index);
        ++run.unsent;
      }
    }
    count += due;
  } while (due == room.size() && count < kOpensPerPass);
  return run.held.flows == 0 ? count : count + open_held(run, now);
}

// In rounds, so that the starts' places in the table are in the cache when they are looked at: with
// many flows open they seldom are. Compiled once, so that what it calls has one caller and becomes
// part of it.
#if __has_cpp_attribute(gnu::noclone)  // GCC's alone
[[gnu::noclone]]
#endif
void Opener::open(ProfileRun& run, std::span<Start> starts, Flow* parent) {
  const FlowTable& table = context_.tables[index_of(Side::client)];
  for (Start& start : starts) {
    start.opened = prepare(run, start, parent);
    if (start.opened) table.prefetch(start.key.hash);
  }
  for (const Start& start : starts)
    if (start.opened) context_.prefetch_identity(table.first(start.key.hash));
  for (Start& start : starts) start.opened = start.opened && open_flow(run, start, parent);
}

size_t Opener::open_held(ProfileRun& run, Nanoseconds now) {
  HeldFlows& held = run.held;
  if (now < held.retry || run.draw().empty()) return 0;
  const uint64_t have = run.open_flows[index_of(Side::client)];
  const uint64_t wanted = held.wanted(now);
  const uint64_t missing = wanted > have ? wanted - have : 0;
  const auto count = static_cast<size_t>(std::min<uint64_t>(missing, kOpensPerPass));
  for (size_t done = 0; done < count && !run.draw().empty(); ++done) {
    Start start;
    start.template_index = run.draw().draw();
    start.intended = now;
    open(run, {&start, 1}, nullptr);
    if (start.opened) {
      run.count_open(start.template_index);
      ++held.opened;
      continue;
    }
    ++held.refused;
    held.retry = now + kHeldRetry;
    return done;
  }
  return count;
}

[[gnu::always_inline]] inline bool Opener::open_flow(ProfileRun& run, const Start& start,
                                                     Flow* parent) {
  CounterBlock& counters = counts_.of(Side::client);
  TemplateClass& template_side = run.flow_class(Side::client, start.template_index);
  const FlowKey& key = start.key;
  const uint32_t client = key.local_low32();
  Flow* flow = nullptr;
  if (context_.tables[index_of(Side::client)].find(key, start.remote, start.local) !=
      FlowTable::kNone) {
    ++counters[Counter::err_dct];
  } else {
    flow = flows_.make(key, start.remote, start.local,
                       run.class_numbers[index_of(Side::client)][start.template_index],
                       template_side, run.l2_header_of(client), Side::client,
                       parent != nullptr || template_side.program->uses_variables);
    if (flow == nullptr) ++counters[Counter::err_c_nf_throttled];
  }
  if (flow == nullptr) {
    run.clients(start.client_range).give_back(client, key.local_port());
    return false;
  }
  flow->set(kPortOwned);
  latency::begin(*flow, start.intended);
  if (parent != nullptr) {
    VariableBlock& block = context_.variables[flow->variables];
    block.client_range = start.client_range;
    block.parent = context_.flows.number_of(*parent);
    context_.variables[parent->variables].child = context_.flows.number_of(*flow);
    parent->wait = Wait::child;
  }
  if (key.datagram()) {
    udp::open(context_, *flow);
    ++run.established;
  } else {
    tcp::open(context_, template_side, *flow);
  }
  if (program::start(context_, template_side, *flow) == program::Outcome::release)
    flows_.release(*flow);
  return true;
}

void Opener::execute(Flow& parent) {
  const TemplateClass& template_side = classes_.of(parent);
  ProfileRun& run = *template_side.run;
  CounterBlock& counters = *template_side.counters;
  VariableBlock& block = context_.variables[parent.variables];
  const uint32_t group = block.next_group;
  ++counters[Counter::flows_total];
  if (block.last_group != 0 && block.last_group != group) ++counters[Counter::flows_other];
  block.last_group = group;

  const std::vector<uint32_t>& templates = run.templates_of(group);
  Start start;
  start.intended = context_.now;
  start.opened = false;
  if (!templates.empty()) {
    start.template_index = templates[context_.random.between(0, templates.size() - 1)];
    open(run, {&start, 1}, &parent);
  }
  // A flow that could not be opened is over; the counter of the refusal tells why.
  if (!start.opened) program::resume(context_, parent);
}

}  // namespace engine
