// How flows come and go.

#include <algorithm>

#include "astf/world.h"
#include "flow/latency.h"
#include "udp/udp.h"

namespace engine {

namespace {

/// Flows opened in one pass at most, so that a burst of due starts does not delay received frames.
constexpr size_t kOpensPerPass = 64;
/// Of those, prepared together.
constexpr size_t kStartsAhead = 16;
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

void DataCore::World::stop_opening(ProfileRun& run) {
  const uint64_t before = run.unsent;
  run.stop_opening(context.now);
  drops[index_of(Side::client)][Drop::start_too_late] += run.unsent - before;
  run.phase = RunPhase::draining;
}

// Starts are prepared some at a time, so that their places in the table are in the cache when they
// are looked at: with many flows open they seldom are.
size_t DataCore::World::open_due(ProfileRun& run, Nanoseconds now) {
  const FlowTable& table = context.tables[index_of(Side::client)];
  std::array<Start, kStartsAhead> starts;
  size_t count = 0;
  size_t prepared;
  do {
    for (prepared = 0; prepared < starts.size() && !run.draw().empty(); ++prepared) {
      Start& start = starts[prepared];
      if (!run.schedule().take(now, start.intended)) break;
      start.template_index = run.draw().draw();
      run.count_open(start.template_index);
      start.prepared = prepare(run, start, nullptr);
      if (start.prepared) table.prefetch(start.hash);
    }
    for (size_t i = 0; i < prepared; ++i)
      if (starts[i].prepared) context.prefetch(table.first(starts[i].hash));
    for (size_t i = 0; i < prepared; ++i) {
      if (starts[i].prepared && open_flow(run, starts[i], nullptr)) {
        ++run.opened;
        if (now - starts[i].intended > kLate) ++run.late;
      } else {
        run.uncount_open(starts[i].template_index);
        ++run.unsent;
      }
    }
    count += prepared;
  } while (prepared == starts.size() && count < kOpensPerPass);
  return run.held.flows == 0 ? count : count + open_held(run, now);
}

size_t DataCore::World::open_held(ProfileRun& run, Nanoseconds now) {
  HeldFlows& held = run.held;
  if (now < held.retry || run.draw().empty()) return 0;
  const uint64_t open = run.open_flows(Side::client);
  const uint64_t wanted = held.wanted(now);
  const uint64_t missing = wanted > open ? wanted - open : 0;
  const auto count = static_cast<size_t>(std::min<uint64_t>(missing, kOpensPerPass));
  for (size_t done = 0; done < count && !run.draw().empty(); ++done) {
    Start start{.template_index = run.draw().draw(), .intended = now};
    if (prepare(run, start, nullptr) && open_flow(run, start, nullptr)) {
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

bool DataCore::World::prepare(ProfileRun& run, Start& start, const Flow* parent) {
  const Template& source = run.profile().templates[start.template_index];
  start.client_range = parent == nullptr ? source.client_range : client_range_of(*parent);
  ClientPool& clients = run.clients(start.client_range);
  uint32_t client = parent == nullptr ? 0 : parent->local.low32();
  uint16_t port = 0;
  if (parent == nullptr && !disabled_clients.empty() && !clients.pass_over(disabled_clients)) {
    ++drops[index_of(Side::client)][Drop::no_client_enabled];
    return false;
  }
  if (parent == nullptr ? !clients.take(client, port) : !clients.take_port_of(client, port)) {
    ++table_counters[index_of(Side::client)][Counter::err_c_tuple_err];
    return false;
  }
  const FlowClass& shared = run.flow_class(Side::client, start.template_index);
  const Tunables& tunables = *shared.tunables;
  const uint32_t server = run.servers(source.server_range).take();
  start.key = {address_of(tunables.destination_msb, server, tunables.ipv6),
               address_of(tunables.source_msb, client, tunables.ipv6), source.destination_port,
               port, !shared.program->stream};
  start.hash = context.tables[index_of(Side::client)].hash(start.key);
  return true;
}

bool DataCore::World::open_flow(ProfileRun& run, const Start& start, Flow* parent) {
  CounterBlock& counters = table_counters[index_of(Side::client)];
  const FlowClass& shared = run.flow_class(Side::client, start.template_index);
  const FlowKey& key = start.key;
  const uint32_t client = key.local.low32();
  Flow* flow = nullptr;
  if (context.tables[index_of(Side::client)].find(key, start.hash) != nullptr) {
    ++counters[Counter::err_dct];
  } else {
    flow = make_flow(
        key, start.hash, run.class_numbers[index_of(Side::client)][start.template_index],
        run.path_of(client), Side::client, parent != nullptr || shared.program->uses_variables);
    if (flow == nullptr) ++counters[Counter::err_c_nf_throttled];
  }
  if (flow == nullptr) {
    run.clients(start.client_range).give_back(client, key.local_port);
    return false;
  }
  flow->set(kPortOwned);
  latency::begin(*flow, start.intended);
  if (parent != nullptr) {
    VariableBlock& block = context.variables[flow->variables];
    block.client_range = start.client_range;
    block.parent = context.flows.number_of(*parent);
    context.variables[parent->variables].child = context.flows.number_of(*flow);
    parent->wait = Wait::child;
  }
  if (key.datagram) {
    udp::open(context, *flow);
    ++run.established;
  } else {
    tcp::open(context, *flow, start.hash);
  }
  if (program::start(context, *flow, 0) == program::Outcome::release) release(*flow);
  return true;
}

Flow* DataCore::World::make_flow(const FlowKey& key, uint32_t hash, uint32_t flow_class,
                                 uint16_t path, Side side, bool with_variables) {
  const uint32_t number = context.flows.take();
  if (number == Flow::kNone) return nullptr;
  Flow& flow = context.flows[number];
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
  if (with_variables && !add_variables(flow)) {
    flow.state = FlowState::free;
    context.flows.give_back(number);
    return nullptr;
  }
  ++class_at(flow_class).open_flows;
  context.tables[index_of(side)].insert(flow, hash);
  return &flow;
}

bool DataCore::World::add_variables(Flow& flow) {
  flow.variables = context.variables.take();
  if (flow.variables == Flow::kNone) return false;
  context.variables[flow.variables] = {};
  return true;
}

void DataCore::World::release(Flow& flow) {
  // Undecided to the end: it is counted with one of the templates in question.
  if (const UndecidedClass* undecided = class_of(flow).undecided)
    decide(flow, undecided->reference);
  TemplateClass& shared = class_of(flow);
  ProfileRun& run = *shared.run;
  ++(*shared.counters)[flow.state == FlowState::datagram ? Counter::udps_closed
                                                         : Counter::tcps_closed];
  context.wheel.remove(flow);
  context.tables[index_of(shared.side)].erase(flow);
  if (flow.extension != Flow::kNone) context.extensions.give_back(flow.extension);
  if (flow.has(kPortOwned)) {
    run.clients(client_range_of(flow)).give_back(flow.local.low32(), flow.local_port);
    if (!executed(flow)) run.count_close(shared.template_index);
  }
  if (flow.variables != Flow::kNone) {
    unlink(flow);
    context.variables.give_back(flow.variables);
  }
  --shared.open_flows;
  const uint32_t number = context.flows.number_of(flow);
  run.watch.ended(number, shared.side);
  flow.state = FlowState::free;
  context.flows.give_back(number);
}

void DataCore::World::cut(Flow& flow) {
  if (flow.state != FlowState::datagram)
    ++(*context.class_of(flow).counters)[Counter::tcps_testdrops];
  release(flow);
}

void DataCore::World::after_events(Flow& flow, tcp::Events events, bool answered_later) {
  if ((events & tcp::kGone) != 0) {
    release(flow);
    return;
  }
  if (events != tcp::kNothing) {
    if ((events & tcp::kDelivered) != 0 && !flow.has(kServerSide))
      latency::record_payload(context, flow);
    program::Outcome outcome;
    if ((events & tcp::kEstablished) != 0 && flow.wait != Wait::template_choice) {
      ProfileRun& run = run_of(flow);
      ++run.established;
      if (run.samples_flows()) run.watch.established(context, flow);
      if (!flow.has(kServerSide)) latency::record(context, flow, LatencyKind::connect);
      outcome = flow.has(kServerSide) ? program::start(context, flow, flow.rx_available)
                                      : program::wake(context, flow, events);
    } else {
      outcome = program::wake(context, flow, events);
    }
    if (outcome == program::Outcome::release) {
      release(flow);
      return;
    }
  }
  if (!answered_later) tcp::transmit(context, flow);
}

void DataCore::World::expired(Flow& flow, TimerKind kind) {
  if (cut_instead(flow)) return;
  if (kind == TimerKind::program) {
    if (flow.wait == Wait::execution) {
      execute(flow);
      return;
    }
    const program::Outcome outcome = program::wake_from_delay(context, flow);
    if (outcome == program::Outcome::release)
      release(flow);
    else if (flow.state != FlowState::datagram && flow.state != FlowState::syn_sent)
      tcp::transmit(context, flow);
    return;
  }
  if (flow.state == FlowState::datagram) {
    ++(*context.class_of(flow).counters)[Counter::udps_keepdrops];
    release(flow);
    return;
  }
  if ((tcp::expire(context, flow, kind) & tcp::kGone) != 0) release(flow);
}

}  // namespace engine
