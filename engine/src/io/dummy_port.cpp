#include "io/dummy_port.h"

#include "net/send_heads.h"

namespace engine {
namespace {

class DummyQueue final : public PortQueue {
 public:
  DummyQueue() : PortQueue({.checksum = true, .max_payload = kUncutPayload}) {}

  std::span<const Frame> receive() override { return {}; }
  void release() override {}

 private:
  void send(std::span<Frame> frames) override {
    counters_.opackets += frames.size();
    for (const Frame& frame : frames) counters_.obytes += frame.length();
  }
  void refill(Frame& slot) override { heads_.refill(slot); }

  SendHeads heads_;
};

class DummyPort final : public Port {
 public:
  DummyPort(uint32_t port, uint32_t cores) {
    info_.driver = "net_dummy";
    info_.description = "no device";
    info_.pci_address = "N/A";
    info_.is_dummy = true;
    mac_ = local_mac(port);
    for (uint32_t core = 0; core < cores; ++core) queues_.push_back(std::make_unique<DummyQueue>());
  }
};

}  // namespace

std::unique_ptr<Port> make_dummy_port(uint32_t port, uint32_t cores) {
  return std::make_unique<DummyPort>(port, cores);
}

}  // namespace engine
