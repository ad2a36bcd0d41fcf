#include "io/dummy_port.h"

namespace engine {
namespace {

class DummyQueue final : public PortQueue {
 public:
  DummyQueue() : transmit_(drain, this, {.checksum = true, .max_payload = kUncutPayload}) {}

  std::span<const Frame> receive() override { return {}; }
  void release() override {}
  TransmitQueue& transmit() override { return transmit_; }

 private:
  static void drain(void* self, std::span<Frame> frames) {
    auto& queue = *static_cast<DummyQueue*>(self);
    for (Frame& frame : frames) {
      if (frame.head == nullptr) {
        frame.head = queue.heads_[queue.heads_used_++].data();
        continue;
      }
      ++queue.counters_.opackets;
      queue.counters_.obytes += frame.length();
    }
  }

  std::array<std::array<uint8_t, kHeadRoom>, TransmitQueue::kBurst> heads_;
  size_t heads_used_ = 0;
  TransmitQueue transmit_;
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
