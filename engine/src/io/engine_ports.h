#pragma once
// The ports that a machine opened, on all data cores that serve them.

#include <map>
#include <optional>
#include <vector>

#include "control/frames.h"
#include "control/ports.h"
#include "io/machine.h"

namespace engine {

class EnginePorts final : public Ports {
 public:
  EnginePorts(Machine& machine, const Frames& frames)
      : machine_(machine), frames_(frames), promiscuous_(machine.ports(), false) {}

  const std::vector<PortInfo>& infos() const override { return machine_.infos(); }
  PortState state(uint32_t port) const override;
  PortCounters counters(uint32_t port) const override;
  void configure(uint32_t port, const PortAddress& address) override;
  void set_promiscuous(uint32_t port, bool enabled) override;
  bool set_link(uint32_t port, bool up) override { return machine_.port(port).set_link(up); }
  bool set_flow_control(uint32_t port, int mode) override {
    return machine_.port(port).set_flow_control(mode);
  }
  std::vector<std::pair<std::string, uint64_t>> extended_statistics(uint32_t port) const override;
  void impair(uint32_t port, Direction direction, const ImpairmentSettings& settings) override;
  std::vector<PortImpairment> impairments() const override;
  std::vector<PortDrops> drops() const override;
  PortCounters device_losses(uint32_t port) const override { return machine_.port(port).losses(); }

 private:
  Machine& machine_;
  const Frames& frames_;
  std::vector<bool> promiscuous_;
  /// By port and direction.
  std::map<std::pair<uint32_t, Direction>, ImpairmentSettings> impairments_;
};

}  // namespace engine
