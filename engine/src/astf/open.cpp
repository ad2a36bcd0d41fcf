// How flows come and go.

#include "astf/world.h"
#include "flow/latency.h"
#include "udp/udp.h"

namespace engine {

namespace {

/// Flows opened in one pass at most, so that a burst of due starts does not delay received frames.
constexpr size_t kOpensPerPass = 64;
/// A start later than this is counted late.
constexpr Nanoseconds kLate = 1 * kMillisecond;

IpAddress address_of(const std::array<uint32_t, 3>& msb, uint32_t low, bool ipv6) {
  if (!ipv6) return IpAddress::v4(low);
  return {uint64_t{msb[0]} << 32 | msb[1], uint64_t{msb[2]} << 32 | low};
}

}  // namespace

size_t DataCore::World::open_due(ProfileRun& run, Nanoseconds now) {
  size_t count = 0;
  Nanoseconds intended = 0;
  while (count < kOpensPerPass && !run.draw().empty() && run.schedule().take(now, intended)) {
    ++count;
    if (open_flow(run, run.draw().draw(), intended)) {
      ++run.opened;
      if (now - intended > kLate) ++run.late;
    } else {
      ++run.unsent;
    }
  }
  return count;
}

bool DataCore::World::open_flow(ProfileRun& run, uint32_t index, Nanoseconds intended) {
  const Template& source = run.profile().templates[index];
  CounterBlock& counters = table_counters[index_of(Side::client)];
  ClientPool& clients = run.clients(source.client_range);
  uint32_t client = 0;
  uint16_t port = 0;
  if (!clients.take(client, port)) {
    ++counters[Counter::err_c_tuple_err];
    return false;
  }
  FlowClass& shared = run.flow_class(Side::client, index);
  const Tunables& tunables = *shared.tunables;
  const uint32_t server = run.servers(source.server_range).take();
  const bool datagram = !shared.program->stream;
  const FlowKey key{address_of(tunables.destination_msb, server, tunables.ipv6),
                    address_of(tunables.source_msb, client, tunables.ipv6), source.destination_port,
                    port, datagram};
  FlowTable& table = context.tables[index_of(Side::client)];
  if (table.find(key, table.hash(key)) != nullptr) {
    ++counters[Counter::err_dct];
    clients.give_back(client, port);
    return false;
  }
  Flow* flow = make_flow(key, run.class_numbers[index_of(Side::client)][index], PathTable::kPort,
                         Side::client);
  if (flow == nullptr) {
    ++counters[Counter::err_c_nf_throttled];
    clients.give_back(client, port);
    return false;
  }
  flow->set(kPortOwned);
  latency::begin(*flow, intended);
  run.count_open(index);
  if (datagram) {
    udp::open(context, *flow);
    ++run.established;
  } else {
    tcp::open(context, *flow);
  }
  if (program::start(context, *flow, 0) == program::Outcome::release) release(*flow);
  return true;
}

Flow* DataCore::World::make_flow(const FlowKey& key, uint32_t flow_class, uint16_t path,
                                 Side side) {
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
  flow.flags = side == Side::server ? kServerSide : 0;
  flow.path = path;
  flow.timer_slot = TimerWheel::kNowhere;
  flow.armed = 0;
  flow.extension = Flow::kNone;
  flow.variables = Flow::kNone;
  flow.rx_available = 0;
  FlowClass& shared = *context.classes[flow_class];
  if (shared.program->uses_variables) {
    flow.variables = context.variables.take();
    if (flow.variables == Flow::kNone) {
      flow.state = FlowState::free;
      context.flows.give_back(number);
      return nullptr;
    }
    VariableBlock& block = context.variables[flow.variables];
    std::fill(std::begin(block.values), std::end(block.values), 0);
    std::fill(std::begin(block.times), std::end(block.times), 0);
  }
  ++shared.open_flows;
  context.tables[index_of(side)].insert(flow);
  return &flow;
}

void DataCore::World::release(Flow& flow) {
  FlowClass& shared = context.class_of(flow);
  ProfileRun& run = run_of(flow);
  ++(*shared.counters)[flow.state == FlowState::datagram ? Counter::udps_closed
                                                         : Counter::tcps_closed];
  context.wheel.remove(flow);
  context.tables[index_of(shared.side)].erase(flow);
  if (flow.extension != Flow::kNone) context.extensions.give_back(flow.extension);
  if (flow.variables != Flow::kNone) context.variables.give_back(flow.variables);
  if (flow.has(kPortOwned)) {
    const Template& source = run.profile().templates[shared.template_index];
    run.clients(source.client_range).give_back(flow.local.low32(), flow.local_port);
    run.count_close(shared.template_index);
  }
  --shared.open_flows;
  flow.state = FlowState::free;
  context.flows.give_back(context.flows.number_of(flow));
}

void DataCore::World::cut(Flow& flow) {
  if (flow.state != FlowState::datagram)
    ++(*context.class_of(flow).counters)[Counter::tcps_testdrops];
  release(flow);
}

void DataCore::World::after_events(Flow& flow, tcp::Events events) {
  if ((events & tcp::kGone) != 0) {
    release(flow);
    return;
  }
  if (events != tcp::kNothing) {
    if ((events & tcp::kDelivered) != 0 && !flow.has(kServerSide))
      latency::record_payload(context, flow);
    program::Outcome outcome;
    if ((events & tcp::kEstablished) != 0) {
      ++run_of(flow).established;
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
  tcp::transmit(context, flow);
}

void DataCore::World::expired(Flow& flow, TimerKind kind) {
  if (kind == TimerKind::program) {
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
