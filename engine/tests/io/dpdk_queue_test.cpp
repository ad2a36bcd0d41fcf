#include "io/dpdk_queue.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/byte_order.h"
#include "io/dpdk_port.h"
#include "io/test_memory.h"

namespace engine {
namespace {

constexpr size_t kRing = 1023;  // frames that DPDK's ring device holds of its own accord
constexpr uint32_t kNumberAt = 14;

/// One port on DPDK's ring device, which gives back what it is given.
class FullDevice : public testing::Test {
 protected:
  FullDevice() {
    start_test_memory();
    const std::string device = fmt::format("--vdev=net_ring{}", opened_++);
    port_ = open_dpdk_port(parse_device_name(device), 0, 1, notices_);
  }

  PortQueue& queue() { return port_->queue(0); }

  /// Sends so many frames, each with the next number.
  void send(size_t count) {
    TransmitQueue& transmit = queue().transmit();
    for (size_t i = 0; i < count; ++i) {
      Frame* const frame = transmit.next();
      ASSERT_NE(frame, nullptr);
      std::memset(frame->head, 0, 60);
      store_be<uint32_t>(frame->head + kNumberAt, sent_++);
      frame->head_length = 60;
      transmit.commit();
    }
    transmit.flush();
  }

  /// Receives one burst, and expects the numbers to go on. Returns how many came.
  size_t receive() {
    const std::span<const Frame> frames = queue().receive();
    for (const Frame& frame : frames)
      EXPECT_EQ(load_be<uint32_t>(frame.head + kNumberAt), received_++);
    const size_t count = frames.size();
    queue().release();
    return count;
  }

  void receive_all() {
    do queue().send_waiting();
    while (receive() != 0);
  }

  static inline int opened_ = 0;
  std::vector<std::string> notices_;
  std::unique_ptr<Port> port_;
  uint32_t sent_ = 0;
  uint32_t received_ = 0;
};

TEST_F(FullDevice, HasItsFramesWaitAndTakesThemInOrder) {
  send(3000);
  EXPECT_EQ(queue().counters().opackets, kRing);
  EXPECT_NE(queue().send_waiting(), 0u);
  receive();
  send(1);  // behind those that wait
  receive_all();
  EXPECT_EQ(received_, 3001u);
  EXPECT_EQ(queue().send_waiting(), 0u);
  EXPECT_EQ(queue().counters().opackets, 3001u);
  EXPECT_EQ(queue().counters().obytes, 3001u * 60);
  EXPECT_EQ(queue().counters().oerrors, 0u);
}

TEST_F(FullDevice, DropsWhatIsTooMuchAndLosesNoBuffer) {
  const uint32_t free = queue().buffers().free;
  send(kRing + DpdkQueue::kWaiting + 100);
  EXPECT_EQ(queue().drops()[Drop::device_full], 100u);
  EXPECT_EQ(queue().counters().oerrors, 100u);
  receive_all();
  EXPECT_EQ(received_, kRing + DpdkQueue::kWaiting);
  // The thread of this test has no cache of the pool, so what is free is counted at once.
  EXPECT_EQ(queue().buffers().free + TransmitQueue::kBurst, free);
}

}  // namespace
}  // namespace engine
