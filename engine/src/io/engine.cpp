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

}  // namespace

std::optional<MacAddress> Engine::Implementation::destination(uint32_t port) const {
  std::optional<MacAddress> found;
  machine.threads_of(port).front()->run([&](DataCore& core, Nanoseconds now) {
    PortResponder& responder = core.responder(side_of(port));
    responder.follow(now);  // answers reach one core of several
    found = responder.destination();
  });
  return found;
}

/// Waits until a client port knows where to send.
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
  const auto gateway = std::make_shared<LearnedGateway>();
  for (DataThread* thread : implementation_->machine.threads_of(port))
    thread->run([&](DataCore& core, Nanoseconds now) {
      core.responder(side_of(port)).configure(complete, gateway, now);
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
                   const RunOptions& options, PortMask client_mask) {
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

void Engine::close(const std::string& id) {
  implementation_->on_all_cores([&](DataCore& core, Nanoseconds, DataThread&) { core.close(id); });
}

void Engine::remove(const std::string& id) {
  implementation_->remove(id);
}

/// Frames on a wire refer to the profile's payload, so it goes only once these have arrived.
void Engine::Implementation::remove(const std::string& id) {
  std::vector<std::unique_ptr<ProfileRun>> runs;
  on_all_cores([&](DataCore& core, Nanoseconds, DataThread&) { core.close(id); });
  for (const auto& thread : machine.threads()) {
    RunPhase phase = RunPhase::closing;
    const auto read = [&](DataCore& core, Nanoseconds) { phase = core.status(id).phase; };
    while (phase != RunPhase::closed) thread->run(read);  // each time the core has made a turn
  }
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

}  // namespace engine
