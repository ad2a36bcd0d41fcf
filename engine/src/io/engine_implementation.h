#pragma once
// The parts of Engine: what its files share.

#include <map>

#include "io/engine.h"
#include "io/frame_sender.h"
#include "io/machine.h"

namespace engine {

/// The side that a port plays in its pair.
constexpr Side side_of(uint32_t port) {
  return port % 2 == 0 ? Side::client : Side::server;
}

struct Engine::Implementation {
  explicit Implementation(const EngineConfig& config)
      : machine(config), promiscuous(machine.ports(), false), unseen(machine.ports(), 0) {}

  /// Has `job`(core, now, thread) done on every data core in turn.
  template <typename Job>
  void on_all_cores(Job job) const {
    for (const auto& thread : machine.threads())
      thread->run([&](DataCore& core, Nanoseconds now) { job(core, now, *thread); });
  }

  std::optional<MacAddress> destination(uint32_t port) const;
  void resolve(uint32_t port);
  void remove(const std::string& id);

  FrameSender sender;  ///< before the machine: its frames outlive the data threads
  Machine machine;
  std::vector<bool> promiscuous;
  /// By port and direction.
  std::map<std::pair<uint32_t, Direction>, ImpairmentSettings> impairments;
  std::vector<uint64_t> unseen;  ///< by port
  std::map<std::string, std::shared_ptr<const Profile>> attached;
  std::vector<uint32_t> latency_ports;  ///< whose streams run
};

}  // namespace engine
