// Single frames: looking at those that pass the ports, and sending some.

#include <algorithm>

#include "io/engine_implementation.h"

namespace engine {

void Engine::watch(uint32_t port, const Watch& watch) {
  const Machine& machine = implementation_->machine;
  const Side side = side_of(port);
  for (DataThread* thread : machine.threads_of(port)) {
    std::unique_ptr<Tap>& tap = thread->tap(side);
    std::unique_ptr<Tap> fresh;
    if (tap == nullptr)
      fresh = std::make_unique<Tap>(port, machine.clock(), thread->queue(side).transmit());
    thread->run([&](DataCore&, Nanoseconds) {
      if (fresh != nullptr) tap = std::move(fresh);
      tap->add(watch);
    });
  }
}

void Engine::unwatch(uint32_t number) {
  for (const auto& thread : implementation_->machine.threads())
    for (const Side side : {Side::client, Side::server})
      if (const std::unique_ptr<Tap>& tap = thread->tap(side); tap != nullptr)
        thread->run([&](DataCore&, Nanoseconds) { tap->remove(number); });
}

void Engine::read_seen(const std::function<void(const SeenFrame&)>& take) {
  const Machine& machine = implementation_->machine;
  for (const auto& thread : machine.threads())
    for (const Side side : {Side::client, Side::server}) {
      std::unique_ptr<Tap>& tap = thread->tap(side);
      if (tap == nullptr) continue;
      tap->ring().read(take);
      implementation_->unseen[tap->port()] += tap->take_lost();
      if (!tap->idle()) continue;
      std::unique_ptr<Tap> unused;
      thread->run([&](DataCore&, Nanoseconds) { unused = std::move(tap); });
    }
}

uint64_t Engine::unseen(uint32_t port) const {
  return implementation_->unseen.at(port);
}

size_t Engine::send(uint32_t port, std::vector<std::vector<uint8_t>> frames) {
  DataThread& thread = *implementation_->machine.threads_of(port).front();
  return implementation_->sender.send(thread, side_of(port), std::move(frames));
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
