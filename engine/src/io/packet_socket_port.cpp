#include "io/packet_socket_port.h"

#include "io/linux_interface.h"
#include "io/packet_socket_queue.h"

namespace engine {
namespace {

/// An address of the port's own, made from the interface's: the kernel's stack passes over what is
/// sent there, where it would answer packets to the interface's as well.
MacAddress beside(MacAddress interface) {
  constexpr uint8_t kLocallyAdministered = 2;  // IEEE 802
  interface[0] = static_cast<uint8_t>((interface[0] | kLocallyAdministered) ^ 4);
  return interface;
}

class PacketSocketPort final : public Port {
 public:
  PacketSocketPort(const std::string& name, uint32_t cores) : interface_(name) {
    info_.driver = "af_packet";
    info_.description = name;
    info_.pci_address = "N/A";
    if (cores > 1) info_.over_rings = "the kernel spreads frames by a hash of its own";
    mac_ = beside(interface_.mac());
    const LinkLayer link{interface_.index(), interface_.mtu(), mac_};
    int group = PacketSocketQueue::kAlone;
    for (uint32_t core = 0; core < cores; ++core) {
      auto queue = std::make_unique<PacketSocketQueue>(link);
      if (cores > 1) group = queue->join(group);
      sockets_.push_back(queue.get());
      queues_.push_back(std::move(queue));
    }
  }

  bool link_up() const override { return interface_.running(); }
  uint32_t mtu() const override { return interface_.mtu(); }
  void set_promiscuous(bool enabled) override { sockets_.front()->ask_for_all(enabled); }
  bool receive_for(const MacAddress& mac) override {
    sockets_.front()->receive_for(mac);
    return true;
  }
  PortCounters losses() const override {
    PortCounters counters;
    for (PacketSocketQueue* queue : sockets_) counters.ierrors += queue->lost();
    return counters;
  }

 private:
  LinuxInterface interface_;
  std::vector<PacketSocketQueue*> sockets_;
};

}  // namespace

std::unique_ptr<Port> open_packet_socket_port(const std::string& interface, uint32_t cores) {
  return std::make_unique<PacketSocketPort>(interface, cores);
}

}  // namespace engine
