#include "io/engine_frames.h"

#include "io/core_jobs.h"

namespace engine {

void EngineFrames::watch(uint32_t port, const Watch& watch) {
  for (DataThread* thread : machine_.threads_of(port)) {
    PortChain& chain = thread->chain(side_of(port));
    std::unique_ptr<Tap> fresh;
    if (chain.tap() == nullptr) fresh = std::make_unique<Tap>(port, machine_.clock());
    thread->run([&](DataCore&, Nanoseconds) {
      if (fresh != nullptr) chain.set_tap(std::move(fresh));
      chain.tap()->add(watch);
    });
  }
}

void EngineFrames::unwatch(uint32_t number) {
  on_cores(machine_.threads(), [&](size_t, DataThread& thread, DataCore&, Nanoseconds) {
    for (const Side side : {Side::client, Side::server})
      if (Tap* const tap = thread.chain(side).tap()) tap->remove(number);
  });
}

void EngineFrames::read_seen(const std::function<void(const SeenFrame&)>& take) {
  for (const auto& thread : machine_.threads())
    for (const Side side : {Side::client, Side::server}) {
      Tap* const tap = thread->chain(side).tap();
      if (tap == nullptr) continue;
      tap->ring().read(take);
      unseen_[tap->port()] += tap->take_lost();
      if (!tap->idle()) continue;
      std::unique_ptr<Tap> unused;
      thread->run([&](DataCore&, Nanoseconds) { unused = thread->chain(side).set_tap(nullptr); });
    }
}

size_t EngineFrames::send(uint32_t port, std::vector<std::vector<uint8_t>> frames) {
  return sender_.send(*machine_.threads_of(port).front(), side_of(port), std::move(frames));
}

void EngineFrames::set_service(const ServiceMode& mode) {
  on_cores(machine_.threads(),
           [&](size_t, DataThread&, DataCore& core, Nanoseconds) { core.set_service(mode); });
}

void EngineFrames::set_ignored(const Ignored& ignored) {
  on_cores(machine_.threads(),
           [&](size_t, DataThread&, DataCore& core, Nanoseconds) { core.set_ignored(ignored); });
}

}  // namespace engine
