#pragma once
// Latency streams of a machine's ports.

#include <vector>

#include "control/latency_streams.h"
#include "io/engine_ports.h"

namespace engine {

class EngineLatency final : public LatencyStreams {
 public:
  EngineLatency(Machine& machine, EnginePorts& ports) : machine_(machine), ports_(ports) {}

  void start(uint32_t port, const LatencyOptions& options) override;
  void set_interval(Nanoseconds interval) override;
  void stop() override;
  LatencyReport report(uint32_t port) const override;

 private:
  Machine& machine_;
  EnginePorts& ports_;
  std::vector<uint32_t> running_;  ///< ports
};

}  // namespace engine
