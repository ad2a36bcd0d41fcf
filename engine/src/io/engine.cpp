#include "io/engine.h"

#include "io/subjects.h"

namespace engine {

namespace {

class MachineClock final : public EngineClock {
 public:
  explicit MachineClock(const Clock& clock) : clock_(clock) {}

  double now() const override { return static_cast<double>(clock_.now()) / kSecond; }
  Nanoseconds wall_epoch() const override { return clock_.wall_epoch(); }

 private:
  const Clock& clock_;
};

}  // namespace

struct Engine::Parts {
  explicit Parts(const EngineConfig& config) : machine(config) {}

  FrameSender sender;  ///< before the machine: its frames outlive the data threads
  Machine machine;
  MachineClock clock{machine.clock()};
  std::unique_ptr<Frames> frames = make_frames(machine, sender);
  std::unique_ptr<Ports> ports = make_ports(machine, *frames);
  std::unique_ptr<Cores> cores = make_cores(machine);
  std::unique_ptr<Runs> runs = make_runs(machine);
  std::unique_ptr<LatencyStreams> latency = make_latency_streams(machine);
};

Engine::Engine(const EngineConfig& config) : parts_(std::make_unique<Parts>(config)) {}
Engine::~Engine() = default;

const std::vector<std::string>& Engine::notices() const {
  return parts_->machine.notices();
}

Subjects Engine::subjects() {
  Parts& parts = *parts_;
  return {parts.clock, *parts.ports, *parts.cores, *parts.runs, *parts.frames, *parts.latency};
}

}  // namespace engine
