#include "astf/core.h"

#include <algorithm>

#include "astf/flow_driver.h"
#include "astf/handshake_steps.h"
#include "tls/library_memory.h"

namespace engine {

namespace {

/// Timers handled in one pass at most, for the same reason as kOpensPerPass.
constexpr size_t kTimersPerPass = 128;
/// Connections taken out of TIME_WAIT in one pass at most. No fewer than may enter it in one, with
/// the bursts that a pass takes, or an overloaded core would have ever more of them.
constexpr size_t kWaitsPerPass = 1024;
/// Flows looked at in one pass at most to find those of runs that are closing: a pool of millions,
/// looked through at once, would keep the core from its ports for a second.
constexpr size_t kAbortsPerPass = 256;

L2Header l2_header_of(const PortAddress& port) {
  return {port.destination.value_or(MacAddress{}), port.mac, port.tags};
}

}  // namespace

/// Of TLS on one core.
struct TlsMemory {
  uint64_t connections = 0;
  uint64_t connection_bytes = 0;
  uint64_t library_bytes = 0;   ///< 0 where no run has TLS, or it is not known
  uint64_t received_bytes = 0;  ///< out of order, or before a step of a handshake
  uint64_t buffers = 0;         ///< with what is not acknowledged
  uint64_t buffer_bytes = 0;

  void add(const tls::TlsCore& core) {
    connections += core.connections.in_use();
    connection_bytes += core.connections.touched_bytes();
    library_bytes = tls::library_bytes().value_or(0);
    received_bytes += core.held_bytes;
    buffers += core.sealed.in_use();
    buffer_bytes += core.sealed.held_bytes();
  }
};

/// The parts of a data core. Each knows only those above it.
struct DataCore::World {
  World(const CoreConfig& config, std::array<TransmitQueue*, kSides> transmit)
      : config(config),
        context(config.max_flows, config.seed, config.epoch, transmit,
                {l2_header_of(config.ports[0]), l2_header_of(config.ports[1])}) {
    context.random = Random(config.choices());
  }

  AddressRanges clients() const;

  CoreConfig config;
  Context context;
  TableCounts counts;
  AttachedRuns runs;
  PortOffsets port_offsets;
  Classes classes{context};
  Listeners listeners{context, classes};
  OpenFlows flows{context, classes, listeners};
  Opener opener{context, classes, flows, counts};
  Unmatched unmatched{context, classes, listeners, flows, runs, counts};
  PortServices port_services{config, context, counts};
  OtherPackets others{context, classes, flows, unmatched, port_services, counts};
  FlowDriver driver{context, classes, flows, opener, unmatched, others, counts};
  HandshakeSteps handshakes{context, classes, flows, runs};
};

/// Addresses that the runs' clients have on this core.
AddressRanges DataCore::World::clients() const {
  AddressRanges all;
  for (const auto& run : runs)
    for (uint32_t range = 0; range < run->profile().ranges.size(); ++range)
      if (run->profile().ranges[range].client) {
        const ClientPool& pool = run->clients(range);
        all.add(pool.first_address(), pool.first_address() + pool.address_count() - 1);
      }
  return all;
}

DataCore::DataCore(const CoreConfig& config, std::array<TransmitQueue*, kSides> transmit)
    : world_(std::make_unique<World>(config, transmit)) {}

DataCore::~DataCore() = default;

void DataCore::receive(Side side, std::span<const Frame> frames, Nanoseconds now) {
  world_->context.set_time(now);
  world_->driver.receive(side, frames);
}

size_t DataCore::advance(Nanoseconds now, bool may_open) {
  World& world = *world_;
  world.context.set_time(now);
  size_t work = world.context.wheel.advance(
      world.context.tick, kTimersPerPass,
      [&world](Flow& flow, TimerKind kind) { world.driver.expire(flow, kind); });
  work += world.flows.end_time_waits(kWaitsPerPass);
  for (const auto& run : world.runs) {
    if (run->phase != RunPhase::opening) continue;
    if (may_open) work += world.opener.open_due(*run, now);
    if (run->exhausted(now)) world.opener.stop(*run);
  }
  if (world.flows.aborting()) [[unlikely]]
    work += world.flows.abort_some(world.runs, kAbortsPerPass);
  return work + world.port_services.advance(now);
}

Nanoseconds DataCore::next_start() const {
  Nanoseconds next = INT64_MAX;
  for (const auto& run : world_->runs)
    if (run->phase == RunPhase::opening) next = std::min(next, run->schedule().next());
  return next;
}

bool DataCore::begin_handshake_step(Nanoseconds now) {
  world_->context.set_time(now);
  return world_->handshakes.begin();
}

void DataCore::end_handshake_step(Nanoseconds now) {
  world_->context.set_time(now);
  world_->handshakes.end();
}

std::unique_ptr<ProfileRun> DataCore::prepare(std::shared_ptr<const Profile> profile,
                                              const RunOptions& options) const {
  return std::make_unique<ProfileRun>(std::move(profile), options, world_->config,
                                      world_->port_offsets);
}

void DataCore::attach(std::unique_ptr<ProfileRun>& run, Nanoseconds now) {
  World& world = *world_;
  world.context.set_time(now);
  world.listeners.add(*run);  // first: it is what can be refused
  for (size_t t = 0; t < run->profile().templates.size(); ++t)
    run->class_numbers[index_of(Side::client)].push_back(
        world.classes.take(run->flow_class(Side::client, t)));
  world.unmatched.tunables = run->profile().server_defaults;
  run->enter_l2_headers(world.context.l2_headers[index_of(Side::client)]);
  run->begin(world.context);
  world.runs.push_back(std::move(run));
}

void DataCore::stop_opening(ProfileRun& run) {
  if (run.phase == RunPhase::opening) world_->opener.stop(run);
}

// Both sides at once, so that neither takes the other's last frames for errors.
void DataCore::close(ProfileRun& run) {
  stop_opening(run);
  World& world = *world_;
  if (run.phase >= RunPhase::closing) return;
  world.listeners.remove(run);
  world.flows.begin_aborting(run);
  world.flows.abort_some(world.runs, 0);  // there may be none
}

std::unique_ptr<ProfileRun> DataCore::detach(ProfileRun& closed) {
  World& world = *world_;
  const auto found = std::find_if(world.runs.begin(), world.runs.end(),
                                  [&closed](const auto& run) { return run.get() == &closed; });
  if (found == world.runs.end() || closed.phase != RunPhase::closed) return nullptr;
  std::unique_ptr<ProfileRun> run = std::move(*found);
  world.runs.erase(found);
  run->leave_offsets(world.port_offsets);
  AddressRanges& disabled = world.opener.disabled_clients;
  if (!disabled.empty()) disabled.keep(world.clients());
  for (const auto& numbers : run->class_numbers)
    for (uint32_t number : numbers) world.classes.give_back(number);
  return run;
}

void DataCore::set_service(const ServiceMode& mode) {
  world_->driver.service = mode;
}

void DataCore::set_ignored(const Ignored& ignored) {
  world_->unmatched.ignored = ignored;
}

void DataCore::enable_clients(const AddressRanges& addresses, bool enabled) {
  AddressRanges& disabled = world_->opener.disabled_clients;
  for (const auto& [first, last] : addresses.ranges())
    enabled ? disabled.remove(first, last) : disabled.add(first, last);
  disabled.keep(world_->clients());
}

ClientAddresses DataCore::clients() const {
  return {world_->clients(), world_->opener.disabled_clients};
}

RunStatus DataCore::status(const ProfileRun& run) const {
  return run.status(world_->context.now);
}

std::vector<tcp::Info> DataCore::sampled_flows(ProfileRun& run, Nanoseconds now) {
  std::vector<tcp::Info> flows;
  world_->context.set_time(now);
  for (const Side side : {Side::client, Side::server})
    if (const auto info = run.sampler.sample(world_->context, side)) flows.push_back(*info);
  return flows;
}

CounterBlock DataCore::table_counters(Side side) const {
  return world_->counts.of(side);
}

Drops DataCore::drops(Side side) const {
  Drops drops = world_->counts.dropped(side);
  const CounterBlock& counters = world_->counts.of(side);
#define DROP(name, help)
#define DROP_AS(name, counter, help) drops[Drop::name] += counters[Counter::counter];
#include "stats/drops.def"
#undef DROP
#undef DROP_AS
  return drops;
}

PathMtuCounts DataCore::path_mtu(Side side) const {
  return world_->counts.path_mtu[index_of(side)];
}

std::vector<PoolStatus> DataCore::memory() const {
  const Context& context = world_->context;
  const uint64_t buckets = context.tables[0].touched_bytes() + context.tables[1].touched_bytes();
  uint64_t ports = 0, ports_in_use = 0;
  for (const auto& run : world_->runs)
    for (uint32_t r = 0; r < run->profile().ranges.size(); ++r)
      if (run->profile().ranges[r].client) {
        ports += run->clients(r).memory();
        ports_in_use += run->clients(r).ports_in_use();
      }
  TlsMemory tls;
  for (const auto& run : world_->runs)
    if (run->tls_core() != nullptr) tls.add(*run->tls_core());
  return {
      {"flow", sizeof(Flow), context.flows.in_use(), context.flows.touched_bytes()},
      {"connection in TIME_WAIT", sizeof(FlowHead), context.waits.in_use(),
       context.waits.touched_bytes()},
      {"flow table bucket", sizeof(uint32_t), context.tables[0].size() + context.tables[1].size(),
       buckets},
      {"pair of IPv6 prefixes", Ipv6Prefixes::kBytes, context.prefixes.in_use(),
       context.prefixes.touched_bytes()},
      {"flow extension", sizeof(Extension), context.extensions.in_use(),
       context.extensions.touched_bytes()},
      {"program variables", sizeof(VariableBlock), context.variables.in_use(),
       context.variables.touched_bytes()},
      {"undecided connection", sizeof(UndecidedClass), world_->listeners.undecided().in_use(),
       world_->listeners.undecided().touched_bytes()},
      {"client port", 0, ports_in_use, ports},
      {"timer slot", sizeof(uint32_t), context.wheel.occupied(), context.wheel.memory()},
      {"TLS session", sizeof(tls::TlsConnection), tls.connections, tls.connection_bytes},
      {"TLS library", 1, tls.library_bytes, tls.library_bytes},
      {"TLS bytes received", 1, tls.received_bytes, tls.received_bytes},
      {"TLS buffer to send", 0, tls.buffers, tls.buffer_bytes},
  };
}

uint64_t DataCore::open_flows() const {
  return world_->context.open_flows();
}

PortResponder& DataCore::responder(Side side) {
  return world_->port_services.responders[index_of(side)];
}

LatencyStream& DataCore::latency_stream(Side side) {
  return world_->port_services.latency_streams[index_of(side)];
}

}  // namespace engine
