// Latency streams of a machine's ports.

#include <vector>

#include "io/core_jobs.h"
#include "io/subjects.h"

namespace engine {

namespace {

class EngineLatency final : public LatencyStreams {
 public:
  explicit EngineLatency(Machine& machine) : machine_(machine) {}

  void start(uint32_t port, const LatencyOptions& options) override;
  void set_interval(Nanoseconds interval) override;
  void stop() override;
  LatencyReport report(uint32_t port) const override;

 private:
  Machine& machine_;
  std::vector<uint32_t> running_;  ///< ports
};

void EngineLatency::start(uint32_t port, const LatencyOptions& options) {
  const bool client = side_of(port) == Side::client;
  running_.push_back(port);
  on_cores(machine_.threads_of(port),
           [&](size_t number, DataThread& thread, DataCore& core, Nanoseconds now) {
             LatencyOptions own = options;
             own.sends = options.sends && (!client || number == 0);
             core.latency_stream(side_of(port)).start(own, now);
             thread.count_run(1);
           });
}

void EngineLatency::set_interval(Nanoseconds interval) {
  for (const uint32_t port : running_)
    on_cores(machine_.threads_of(port), [&](size_t, DataThread&, DataCore& core, Nanoseconds now) {
      core.latency_stream(side_of(port)).set_interval(interval, now);
    });
}

void EngineLatency::stop() {
  for (const uint32_t port : running_)
    on_cores(machine_.threads_of(port), [&](size_t, DataThread&, DataCore& core, Nanoseconds) {
      core.latency_stream(side_of(port)).stop();
    });
  // Only now may threads sleep: what was under way has arrived.
  for (const uint32_t port : running_)
    on_cores(machine_.threads_of(port),
             [](size_t, DataThread& thread, DataCore&, Nanoseconds) { thread.count_run(-1); });
  running_.clear();
}

LatencyReport EngineLatency::report(uint32_t port) const {
  return sum_of(
      on_cores(machine_.threads_of(port), [&](size_t, DataThread&, DataCore& core, Nanoseconds) {
        return core.latency_stream(side_of(port)).report();
      }));
}

}  // namespace

std::unique_ptr<LatencyStreams> make_latency_streams(Machine& machine) {
  return std::make_unique<EngineLatency>(machine);
}

}  // namespace engine
