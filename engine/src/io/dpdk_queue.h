#pragma once
// One receive and one transmit queue of a DPDK device, for one data core.

#include <rte_mbuf.h>
#include <rte_mempool.h>

#include "io/port.h"

namespace engine {

class DpdkQueue final : public PortQueue {
 public:
  /// `pool`: of packet buffers, owned by the port. `offloads`: what the device does on transmit.
  /// `received`: what is known of received checksums that the device does not speak of.
  DpdkQueue(uint16_t device, uint16_t queue, rte_mempool* pool, DeviceOffloads offloads,
            Checksums received);
  ~DpdkQueue() override;

  /// Packet buffers that the transmit queue holds ready at most.
  static constexpr uint32_t kHeld = TransmitQueue::kBurst;

  std::span<const Frame> receive() override;
  void release() override;
  BufferPool buffers() const override;

 private:
  void send(std::span<Frame> frames) override;
  void refill(Frame& slot) override { refill({&slot, 1}); }
  rte_mbuf* complete(Frame& frame);
  void hand_over(std::span<rte_mbuf*> packets);
  void refill(std::span<Frame> frames);

  const uint16_t device_;
  const uint16_t queue_;
  rte_mempool* const pool_;
  const Checksums checksums_;
  uint16_t received_ = 0;  ///< packets out with the core
  std::array<rte_mbuf*, TransmitQueue::kBurst> packets_;
  std::array<Frame, TransmitQueue::kBurst> frames_;
};

}  // namespace engine
