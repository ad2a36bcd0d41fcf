// Latency streams of ports, over all data cores that serve them.

#include "io/engine_implementation.h"

namespace engine {

void Engine::start_latency(uint32_t port, const LatencyOptions& options) {
  if (side_of(port) == Side::client && options.sends) implementation_->resolve(port);
  LatencyOptions own = options;
  implementation_->latency_ports.push_back(port);
  for (DataThread* thread : implementation_->machine.threads_of(port)) {
    thread->run([&](DataCore& core, Nanoseconds now) {
      core.latency_stream(side_of(port)).start(own, now);
      thread->count_run(1);
    });
    if (side_of(port) == Side::client) own.sends = false;
  }
}

void Engine::set_latency_interval(Nanoseconds interval) {
  for (uint32_t port : implementation_->latency_ports)
    for (DataThread* thread : implementation_->machine.threads_of(port))
      thread->run([&](DataCore& core, Nanoseconds now) {
        core.latency_stream(side_of(port)).set_interval(interval, now);
      });
}

void Engine::stop_latency() {
  for (uint32_t port : implementation_->latency_ports)
    for (DataThread* thread : implementation_->machine.threads_of(port))
      thread->run([&](DataCore& core, Nanoseconds) { core.latency_stream(side_of(port)).stop(); });
  // Only now may threads sleep: what was under way has arrived.
  for (uint32_t port : implementation_->latency_ports)
    for (DataThread* thread : implementation_->machine.threads_of(port))
      thread->run([&](DataCore&, Nanoseconds) { thread->count_run(-1); });
  implementation_->latency_ports.clear();
}

LatencyReport Engine::latency(uint32_t port) const {
  LatencyReport sum;
  for (DataThread* thread : implementation_->machine.threads_of(port))
    thread->run(
        [&](DataCore& core, Nanoseconds) { sum += core.latency_stream(side_of(port)).report(); });
  return sum;
}

}  // namespace engine
