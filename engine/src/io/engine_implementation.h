#pragma once
// The parts of Engine: what its files share.

#include <exception>
#include <map>
#include <vector>

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

  /// Has every data core read something at the same time, each into its own `Part` by
  /// `read`(core, part); returns the parts. Passes on what one of them throws.
  template <typename Part, typename Read>
  std::vector<Part> at_once(Read read) const {
    const auto& threads = machine.threads();
    std::vector<Part> parts(threads.size());
    std::vector<DataThread::Job> jobs;
    for (Part& part : parts)
      jobs.emplace_back([&read, &part](DataCore& core, Nanoseconds) { read(core, part); });
    std::vector<DataThread::Request> requests(jobs.begin(), jobs.end());
    for (size_t i = 0; i < threads.size(); ++i) threads[i]->ask(requests[i]);
    std::exception_ptr error;
    for (size_t i = 0; i < threads.size(); ++i) {
      try {
        threads[i]->finish(requests[i]);
      } catch (...) {  // the others still hold on to their requests
        error = std::current_exception();
      }
    }
    if (error) std::rethrow_exception(error);
    return parts;
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
