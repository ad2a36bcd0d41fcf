#pragma once
// One receive and one transmit queue of a DPDK device, for one data core.

#include <rte_mbuf.h>
#include <rte_mempool.h>

#include <vector>

#include "io/external_payload.h"
#include "io/port.h"

namespace engine {

/// A queue's packet buffers, which its port owns.
struct PacketPools {
  rte_mempool* whole = nullptr;       ///< buffers with room for a frame
  rte_mempool* references = nullptr;  ///< without room, to refer to payload; nullptr: none
};

class DpdkQueue final : public PortQueue {
 public:
  /// `offloads`: what the device does on transmit. `buffers`: how many of them one frame may take;
  /// longer frames are refused.
  /// `received`: what is known of received checksums that the device does not speak of.
  DpdkQueue(uint16_t device, uint16_t queue, PacketPools pools, DeviceOffloads offloads,
            uint16_t buffers, Checksums received);
  ~DpdkQueue() override;

  std::span<const Frame> receive() override;
  void release() override;
  size_t send_waiting() override;
  void refer_to(const std::shared_ptr<const ExternalPayload>& payload) override;
  void forget(const std::shared_ptr<const ExternalPayload>& payload) override;
  BufferPool buffers() const override;

 private:
  void send(std::span<Frame> frames) override;
  void refill(Frame& slot) override { refill({&slot, 1}); }
  rte_mbuf* complete(Frame& frame);
  /// Has `packet` refer to its frame's payload. False: that has to be copied.
  bool refer(rte_mbuf* packet, const Frame& frame);
  /// Counts and frees a packet that the device cannot send. Returns nullptr.
  rte_mbuf* give_up(rte_mbuf* packet, Drop reason);
  /// Has the driver write what its offloads need into the packets' headers. Those that it refuses
  /// are given up; returns the others, in their order.
  std::span<rte_mbuf*> prepare(std::span<rte_mbuf*> packets);
  /// Gives the device as many of `packets` as it takes. Returns how many.
  size_t hand_over(std::span<rte_mbuf*> packets);
  void hold(std::span<rte_mbuf*> packets);
  void refill(std::span<Frame> frames);

  const uint16_t device_;
  const uint16_t queue_;
  const PacketPools pools_;
  const uint16_t most_buffers_;
  const Checksums checksums_;
  uint16_t received_ = 0;           ///< packets out with the core
  std::vector<rte_mbuf*> waiting_;  ///< in order
  std::vector<PayloadReferences*> references_;
  std::array<rte_mbuf*, TransmitQueue::kBurst> packets_;
  std::array<Frame, TransmitQueue::kBurst> frames_;
};

}  // namespace engine
