#pragma once
// Single frames of a machine's ports: looking at those that pass, and sending some.

#include <vector>

#include "control/frames.h"
#include "io/frame_sender.h"
#include "io/machine.h"

namespace engine {

class EngineFrames final : public Frames {
 public:
  /// `sender` outlives the machine's data threads.
  EngineFrames(Machine& machine, FrameSender& sender)
      : machine_(machine), sender_(sender), unseen_(machine.ports(), 0) {}

  void watch(uint32_t port, const Watch& watch) override;
  void unwatch(uint32_t number) override;
  void read_seen(const std::function<void(const SeenFrame&)>& take) override;
  uint64_t unseen(uint32_t port) const override { return unseen_.at(port); }
  size_t send(uint32_t port, std::vector<std::vector<uint8_t>> frames) override;
  void set_service(const ServiceMode& mode) override;
  void set_ignored(const Ignored& ignored) override;

 private:
  Machine& machine_;
  FrameSender& sender_;
  std::vector<uint64_t> unseen_;  ///< by port
};

}  // namespace engine
