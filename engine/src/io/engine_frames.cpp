// Single frames: looking at those that pass the ports, and sending some.

#include <algorithm>

#include "io/engine_implementation.h"

namespace engine {

void Engine::watch(uint32_t port, const Watch& watch) {
  const Machine& machine = implementation_->machine;
  const Side side = side_of(port);
  for (DataThread* thread : machine.threads_of(port)) {
    PortChain& chain = thread->chain(side);
    std::unique_ptr<Tap> fresh;
    if (chain.tap() == nullptr) fresh = std::make_unique<Tap>(port, machine.clock());
    thread->run([&](DataCore&, Nanoseconds) {
      if (fresh != nullptr) chain.set_tap(std::move(fresh));
      chain.tap()->add(watch);
    });
  }
}

void Engine::unwatch(uint32_t number) {
  for (const auto& thread : implementation_->machine.threads())
    for (const Side side : {Side::client, Side::server})
      if (Tap* const tap = thread->chain(side).tap())
        thread->run([&](DataCore&, Nanoseconds) { tap->remove(number); });
}

void Engine::read_seen(const std::function<void(const SeenFrame&)>& take) {
  const Machine& machine = implementation_->machine;
  for (const auto& thread : machine.threads())
    for (const Side side : {Side::client, Side::server}) {
      Tap* const tap = thread->chain(side).tap();
      if (tap == nullptr) continue;
      tap->ring().read(take);
      implementation_->unseen[tap->port()] += tap->take_lost();
      if (!tap->idle()) continue;
      std::unique_ptr<Tap> unused;
      thread->run([&](DataCore&, Nanoseconds) { unused = thread->chain(side).set_tap(nullptr); });
    }
}

uint64_t Engine::unseen(uint32_t port) const {
  return implementation_->unseen.at(port);
}

size_t Engine::send(uint32_t port, std::vector<std::vector<uint8_t>> frames) {
  DataThread& thread = *implementation_->machine.threads_of(port).front();
  return implementation_->sender.send(thread, side_of(port), std::move(frames));
}

void Engine::impair(uint32_t port, Direction direction, const ImpairmentSettings& settings) {
  ImpairmentSettings own = settings;
  own.seed = settings.seed << 32 | port << 1 | static_cast<uint32_t>(direction);
  for (DataThread* thread : implementation_->machine.threads_of(port)) {
    thread->run(
        [&](DataCore&, Nanoseconds) { thread->chain(side_of(port)).impair(direction, own); });
    own.seed += 1u << 16;
  }
  implementation_->impairments[{port, direction}] = settings;
}

std::vector<PortImpairment> Engine::impairments() const {
  const Machine& machine = implementation_->machine;
  std::vector<PortImpairment> all;
  for (uint32_t port = 0; port < ports().size(); ++port)
    for (const Direction direction : {Direction::transmit, Direction::receive})
      all.push_back({port, direction, implementation_->impairments[{port, direction}], {}});
  for (size_t number = 0; number < machine.threads().size(); ++number)
    machine.threads()[number]->run([&](DataCore&, Nanoseconds) {
      for (const Side side : {Side::client, Side::server})
        for (const Direction direction : {Direction::transmit, Direction::receive})
          all[machine.port_of(number, side) * kDirections + static_cast<size_t>(direction)]
              .counts += machine.threads()[number]->chain(side).impairment_counts(direction);
    });
  return all;
}

void Engine::set_service(const ServiceMode& mode) {
  implementation_->on_all_cores(
      [&](DataCore& core, Nanoseconds, DataThread&) { core.set_service(mode); });
}

void Engine::set_ignored(const Ignored& ignored) {
  implementation_->on_all_cores(
      [&](DataCore& core, Nanoseconds, DataThread&) { core.set_ignored(ignored); });
}

}  // namespace engine
