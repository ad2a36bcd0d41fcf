#include "io/engine.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <thread>

#include "astf/run.h"
#include "io/engine_implementation.h"

namespace engine {
namespace {

/// How long a start waits for a gateway that has not answered yet.
constexpr int kResolvePolls = 100;
constexpr auto kResolvePoll = std::chrono::milliseconds(10);

template <typename Block>
void add(std::vector<Block>& to, const std::vector<Block>& what) {
  to.resize(std::max(to.size(), what.size()));
  for (size_t i = 0; i < what.size(); ++i) to[i] += what[i];
}

}  // namespace

/// What any core of the port has resolved: answers reach only one of several.
std::optional<MacAddress> Engine::Implementation::destination(uint32_t port) const {
  std::optional<MacAddress> found;
  for (DataThread* thread : machine.threads_of(port))
    thread->run([&](DataCore& core, Nanoseconds) {
      const PortResponder& responder = core.responder(side_of(port));
      if (responder.resolved()) found = responder.destination();
    });
  return found;
}

/// Waits until a client port knows where to send, and sees that all its cores do.
void Engine::Implementation::resolve(uint32_t port) {
  if (machine.infos()[port].is_dummy) return;
  std::optional<MacAddress> found = destination(port);
  const PortAddress& address = machine.configured(port);
  if (!found && !address.gateway && !address.ipv6_gateway)
    throw ProfileError(fmt::format(
        "port {} has no destination: give it default_gw, default_gw_ipv6 or dest_mac in the "
        "configuration",
        port));
  for (int poll = 0; !found && poll < kResolvePolls; ++poll) {
    std::this_thread::sleep_for(kResolvePoll);
    found = destination(port);
  }
  if (!found)
    throw ProfileError(fmt::format(
        "port {}: its gateway does not answer {}; see that the other side is up, has that address "
        "and is on the same link",
        port, address.gateway ? "ARP" : "neighbour solicitations"));
  for (DataThread* thread : machine.threads_of(port))
    thread->run([&](DataCore& core, Nanoseconds now) {
      PortResponder& responder = core.responder(side_of(port));
      if (responder.resolved()) return;
      PortAddress resolved = responder.address();
      resolved.destination = found;
      responder.configure(resolved, now);
    });
}

Engine::Engine(const EngineConfig& config)
    : implementation_(std::make_unique<Implementation>(config)) {}
Engine::~Engine() = default;

const std::vector<std::string>& Engine::notices() const {
  return implementation_->machine.notices();
}

// -- Ports
// ---------------------------------------------------------------------------------------------

const std::vector<PortInfo>& Engine::ports() const {
  return implementation_->machine.infos();
}

PortState Engine::port_state(uint32_t port) const {
  PortState state;
  const std::optional<MacAddress> destination = implementation_->destination(port);
  implementation_->machine.threads_of(port).front()->run([&](DataCore& core, Nanoseconds) {
    state.address = core.responder(side_of(port)).address();
  });
  state.resolved = destination.has_value();
  state.destination = destination.value_or(MacAddress{});
  state.link_up = implementation_->machine.port(port).link_up();
  state.promiscuous = implementation_->promiscuous[port];
  state.flow_control = implementation_->machine.port(port).flow_control();
  return state;
}

PortCounters Engine::port_counters(uint32_t port) const {
  PortCounters sum = implementation_->machine.port(port).losses();
  for (DataThread* thread : implementation_->machine.threads_of(port))
    thread->run([&](DataCore&, Nanoseconds) {
      const PortCounters& counters = thread->queue(side_of(port)).counters();
      sum.opackets += counters.opackets;
      sum.obytes += counters.obytes;
      sum.ipackets += counters.ipackets;
      sum.ibytes += counters.ibytes;
      sum.oerrors += counters.oerrors;
      sum.ierrors += counters.ierrors;
    });
  return sum;
}

bool Engine::set_link(uint32_t port, bool up) {
  return implementation_->machine.port(port).set_link(up);
}

bool Engine::set_flow_control(uint32_t port, int mode) {
  return implementation_->machine.port(port).set_flow_control(mode);
}

std::vector<std::pair<std::string, uint64_t>> Engine::extended_statistics(uint32_t port) const {
  std::vector<std::pair<std::string, uint64_t>> all =
      implementation_->machine.port(port).extended_statistics();
  all.emplace_back("capture_ring_full", unseen(port));
  return all;
}

void Engine::configure_port(uint32_t port, const PortAddress& address) {
  PortAddress complete = address;
  if (complete.mac == MacAddress{}) complete.mac = implementation_->machine.port(port).mac();
  const bool promiscuous = implementation_->promiscuous[port];
  for (DataThread* thread : implementation_->machine.threads_of(port))
    thread->run([&](DataCore& core, Nanoseconds now) {
      core.responder(side_of(port)).configure(complete, now);
      thread->queue(side_of(port)).set_filter(complete.mac, promiscuous);
    });
}

void Engine::set_promiscuous(uint32_t port, bool enabled) {
  implementation_->machine.port(port).set_promiscuous(enabled);
  implementation_->promiscuous[port] = enabled;
  for (DataThread* thread : implementation_->machine.threads_of(port))
    thread->run([&](DataCore& core, Nanoseconds) {
      thread->queue(side_of(port)).set_filter(core.responder(side_of(port)).address().mac, enabled);
    });
}

// -- Runs
// ----------------------------------------------------------------------------------------------

void Engine::start(const std::string& id, std::shared_ptr<const Profile> profile,
                   const RunOptions& options, uint32_t client_mask) {
  const Machine& machine = implementation_->machine;
  // A dummy port leads nowhere, so nothing is opened there.
  const auto opens = [&](uint32_t port) {
    return options.opens_flows && (client_mask >> port & 1) != 0 && !machine.infos()[port].is_dummy;
  };
  for (uint32_t port = 0; port < machine.ports(); port += 2)
    if (opens(port) && !options.topology) implementation_->resolve(port);

  std::vector<std::unique_ptr<ProfileRun>> runs;
  for (size_t number = 0; number < machine.threads().size(); ++number) {
    RunOptions own = options;
    own.opens_flows = opens(machine.port_of(number, Side::client));
    runs.push_back(machine.threads()[number]->core().prepare(id, profile, own));
  }
  implementation_->attached.insert_or_assign(id, std::move(profile));
  try {
    for (size_t number = 0; number < runs.size(); ++number)
      machine.threads()[number]->run([&](DataCore& core, Nanoseconds now) {
        core.attach(runs[number], now);
        machine.threads()[number]->count_run(1);
      });
  } catch (...) {
    implementation_->remove(id);
    throw;
  }
}

void Engine::set_multiplier(const std::string& id, double multiplier) {
  implementation_->on_all_cores([&](DataCore& core, Nanoseconds now, DataThread&) {
    core.set_multiplier(id, multiplier, now);
  });
}

void Engine::hold(const std::string& id, uint64_t flows, Nanoseconds ramp) {
  implementation_->on_all_cores(
      [&](DataCore& core, Nanoseconds now, DataThread&) { core.hold(id, flows, ramp, now); });
}

void Engine::stop_opening(const std::string& id) {
  implementation_->on_all_cores(
      [&](DataCore& core, Nanoseconds, DataThread&) { core.stop_opening(id); });
}

void Engine::close_servers(const std::string& id) {
  implementation_->on_all_cores(
      [&](DataCore& core, Nanoseconds, DataThread&) { core.close_servers(id); });
}

void Engine::remove(const std::string& id) {
  implementation_->remove(id);
}

/// Frames on a wire refer to the profile's payload, so it goes only once these have arrived.
void Engine::Implementation::remove(const std::string& id) {
  std::vector<std::unique_ptr<ProfileRun>> runs;
  on_all_cores([&](DataCore& core, Nanoseconds, DataThread& thread) {
    if (std::unique_ptr<ProfileRun> run = core.detach(id)) {
      runs.push_back(std::move(run));
      thread.count_run(-1);
    }
  });
  for (const auto& thread : machine.threads())
    for (const Side side : {Side::client, Side::server}) {
      uint64_t sent = 0;
      uint64_t released = 0;
      const auto read = [&](DataCore&, Nanoseconds) {
        if (sent == 0) sent = thread->queue(side).counters().opackets;
        released = thread->queue(side).payload_released();
      };
      for (thread->run(read); released < sent;) thread->run(read);
    }
  attached.erase(id);
}

// -- Reading
// -------------------------------------------------------------------------------------------

RunStatus Engine::status(const std::string& id) const {
  RunStatus sum;
  implementation_->on_all_cores([&](DataCore& core, Nanoseconds, DataThread&) {
    const RunStatus status = core.status(id);
    sum.phase = std::min(sum.phase, status.phase);
    sum.client_flows += status.client_flows;
    sum.server_flows += status.server_flows;
    sum.intended += status.intended;
    sum.opened += status.opened;
    sum.late += status.late;
    sum.unsent += status.unsent;
    sum.held_wanted += status.held_wanted;
    sum.held_opened += status.held_opened;
    sum.held_refused += status.held_refused;
    sum.established += status.established;
  });
  return sum;
}

std::vector<CounterBlock> Engine::counters(const std::string& id, Side side) const {
  std::vector<CounterBlock> sum;
  implementation_->on_all_cores(
      [&](DataCore& core, Nanoseconds, DataThread&) { add(sum, core.counters(id, side)); });
  return sum;
}

std::vector<LatencyBlock> Engine::latencies(const std::string& id) const {
  std::vector<LatencyBlock> sum;
  implementation_->on_all_cores(
      [&](DataCore& core, Nanoseconds, DataThread&) { add(sum, core.latencies(id)); });
  return sum;
}

std::vector<PayloadBlock> Engine::payload(const std::string& id) const {
  std::vector<PayloadBlock> sum;
  implementation_->on_all_cores(
      [&](DataCore& core, Nanoseconds, DataThread&) { add(sum, core.payload(id)); });
  return sum;
}

CounterBlock Engine::table_counters(Side side) const {
  CounterBlock sum;
  implementation_->on_all_cores(
      [&](DataCore& core, Nanoseconds, DataThread&) { sum += core.table_counters(side); });
  return sum;
}

Engine::Population Engine::population() const {
  Population population;
  for (const auto& [id, profile] : implementation_->attached) {
    for (const AddressRange& range : profile->ranges)
      (range.client ? population.clients : population.servers) +=
          uint64_t{range.last} - range.first + 1;
    population.ports_in_use += status(id).client_flows;
  }
  return population;
}

std::vector<PortDrops> Engine::drops() const {
  std::vector<PortDrops> all;
  const Machine& machine = implementation_->machine;
  for (uint32_t number = 0; number < machine.threads().size(); ++number)
    machine.threads()[number]->run([&](DataCore& core, Nanoseconds) {
      for (const Side side : {Side::client, Side::server}) {
        const PortChain& chain = machine.threads()[number]->chain(side);
        PortQueue& queue = machine.threads()[number]->queue(side);
        Drops drops = core.drops(side);
        for (const Direction direction : {Direction::transmit, Direction::receive}) {
          drops[Drop::impairment_loss] += chain.impairment_counts(direction).lost;
          drops[Drop::impairment_full] += chain.impairment_counts(direction).no_room;
        }
        drops += queue.drops();
        drops[Drop::no_buffer] += queue.transmit().without_buffer();
        all.push_back({machine.port_of(number, side), number, drops});
      }
    });
  return all;
}

uint64_t Engine::device_losses(uint32_t port) const {
  return implementation_->machine.port(port).losses().ierrors;
}

std::vector<PoolStatus> Engine::memory() const {
  std::vector<PoolStatus> sum;
  implementation_->on_all_cores([&](DataCore& core, Nanoseconds, DataThread&) {
    const std::vector<PoolStatus> pools = core.memory();
    if (sum.empty())
      sum = pools;
    else
      for (size_t i = 0; i < pools.size(); ++i) {
        sum[i].in_use += pools[i].in_use;
        sum[i].reserved_bytes += pools[i].reserved_bytes;
      }
  });
  return sum;
}

std::vector<CoreCycles> Engine::cycles() const {
  std::vector<CoreCycles> cycles;
  implementation_->on_all_cores([&](DataCore&, Nanoseconds, DataThread& thread) {
    CoreCycles core;
    core.core = static_cast<uint32_t>(cycles.size());
    core.cpu = thread.cpu();
    core.pair = static_cast<uint32_t>(core.core % implementation_->machine.pairs());
    core.total = thread.total_cycles();
    core.busy = thread.busy_cycles();
    cycles.push_back(core);
  });
  return cycles;
}

uint64_t Engine::tsc_hz() const {
  return implementation_->machine.clock().hz();
}

uint32_t Engine::core_count() const {
  return static_cast<uint32_t>(implementation_->machine.threads().size());
}

uint32_t Engine::cores_per_pair() const {
  return static_cast<uint32_t>(core_count() / implementation_->machine.pairs());
}

double Engine::now() const {
  return static_cast<double>(implementation_->machine.clock().now()) / kSecond;
}

Nanoseconds Engine::wall_epoch() const {
  return implementation_->machine.clock().wall_epoch();
}

}  // namespace engine
