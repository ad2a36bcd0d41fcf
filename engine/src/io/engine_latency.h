#pragma once
// Latency streams of a machine's ports.

#include <vector>

#include "control/latency_streams.h"
#include "io/machine.h"

namespace engine {

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

}  // namespace engine
