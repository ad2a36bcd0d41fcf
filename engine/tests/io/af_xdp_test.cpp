#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sched.h>

#include <chrono>
#include <cstdlib>
#include <functional>
#include <thread>

#include "base/byte_order.h"
#include "io/dpdk_port.h"
#include "io/test_memory.h"

namespace engine {
namespace {

constexpr size_t kNumberedHead = 60;

/// Has `test` done with AF_XDP ports on the two ends of a veth, in a network namespace of their
/// own.
void over_veth(const std::function<void(Port&, Port&)>& test) {
  std::string skipped;
  std::thread([&] {
    if (unshare(CLONE_NEWNET) != 0) {
      skipped = "no network namespace to be had: run as root";
      return;
    }
    ASSERT_EQ(std::system("ip link add xa mtu 3000 type veth peer name xb mtu 3000 &&"
                          " ip link set xa up && ip link set xb up"),
              0);
    start_test_memory();
    static int opened = 0;
    std::vector<std::string> notices;
    std::array<std::unique_ptr<Port>, 2> ports;
    for (size_t end = 0; end < 2; ++end) {
      const DeviceName device = parse_device_name(fmt::format(
          "--vdev=net_af_xdp{},iface={},busy_budget=0", opened++, end == 0 ? "xa" : "xb"));
      ports[end] = open_dpdk_port(device, 0, 1, notices);
      ports[end]->queue(0).set_filter(ports[end]->mac(), true);
    }
    test(*ports[0], *ports[1]);
  }).join();
  if (!skipped.empty()) GTEST_SKIP() << skipped;
}

/// Sends a frame with `number` behind the addresses, and `payload`.
void send_numbered(PortQueue& queue, uint32_t number, const std::vector<uint8_t>& payload) {
  Frame* const frame = queue.transmit().next();
  ASSERT_NE(frame, nullptr);
  std::memset(frame->head, 0, kNumberedHead);
  store_be<uint32_t>(frame->head + 14, number);
  frame->head_length = kNumberedHead;
  frame->payload = payload.data();
  frame->payload_length = static_cast<uint32_t>(payload.size());
  queue.transmit().commit();
  queue.transmit().flush();
}

/// Receives what comes until `count` have come; the time is a limit, not a measure. Returns how
/// many were whole.
size_t receive_whole(PortQueue& from, PortQueue& sender, size_t count,
                     const std::vector<uint8_t>& payload) {
  size_t came = 0;
  size_t whole = 0;
  for (int i = 0; i < 500 && came < count; ++i) {
    sender.send_waiting();
    for (const Frame& frame : from.receive()) {
      if (frame.head[12] != 0 || frame.head[13] != 0) continue;  // the kernel's own
      ++came;
      whole += frame.head_length == kNumberedHead + payload.size() &&
               std::equal(payload.begin(), payload.end(), frame.head + kNumberedHead);
    }
    from.release();
    if (came < count) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return whole;
}

// More frames than a pool has buffers, so that each buffer has its turn.
TEST(AfXdp, SendsFromEveryBuffer) {
  over_veth([](Port& sender, Port& receiver) {
    PortQueue& from = sender.queue(0);
    PortQueue& to = receiver.queue(0);
    std::vector<uint8_t> payload(1000);
    for (size_t i = 0; i < payload.size(); ++i) payload[i] = static_cast<uint8_t>(i * 7);
    constexpr size_t kRounds = 40;
    size_t whole = 0;
    for (uint32_t round = 0; round < kRounds; ++round) {
      for (uint32_t i = 0; i < 512; ++i) send_numbered(from, round * 512 + i, payload);
      whole += receive_whole(to, from, 512, payload);
      if (whole != (round + 1) * 512) break;
    }
    EXPECT_EQ(whole, kRounds * 512);
    EXPECT_EQ(from.counters().oerrors, 0u);
    EXPECT_EQ(sender.losses().oerrors, 0u);
  });
}

// The driver counts them as sent. A descriptor of no byte is one that the kernel calls invalid.
TEST(AfXdp, CountsWhatTheKernelRefusesToSend) {
  over_veth([](Port& sender, Port& receiver) {
    PortQueue& from = sender.queue(0);
    for (int i = 0; i < 7; ++i) {
      Frame* const frame = from.transmit().next();
      ASSERT_NE(frame, nullptr);
      frame->head_length = 0;
      from.transmit().commit();
    }
    from.transmit().flush();
    // The kernel goes past one of them each time that it is asked to send.
    const std::vector<uint8_t> payload(100, 1);
    for (uint32_t number = 0; number < 20; ++number) send_numbered(from, number, payload);
    EXPECT_EQ(receive_whole(receiver.queue(0), from, 20, payload), 20u);
    EXPECT_EQ(sender.losses().oerrors, 7u);
    EXPECT_EQ(receiver.losses().oerrors, 0u) << "of another port";
    EXPECT_EQ(from.counters().opackets, 27u);
  });
}

TEST(AfXdp, RefusesAFrameOverOneBuffer) {
  over_veth([](Port& sender, Port& receiver) {
    PortQueue& from = sender.queue(0);
    PortQueue& to = receiver.queue(0);
    send_numbered(from, 0, std::vector<uint8_t>(2100, 1));
    EXPECT_EQ(from.drops()[Drop::frame_refused], 1u);
    EXPECT_EQ(from.counters().oerrors, 1u);
    EXPECT_EQ(from.counters().opackets, 0u);
    const std::vector<uint8_t> after(1000, 2);
    send_numbered(from, 1, after);
    EXPECT_EQ(receive_whole(to, from, 1, after), 1u);
  });
}

}  // namespace
}  // namespace engine
