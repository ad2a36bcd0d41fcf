// The type of a frame's outer VLAN tag, 802.1Q or 802.1ad, on its way through each kind of DPDK
// port whose other side a test can see.

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <functional>
#include <thread>

#include "base/byte_order.h"
#include "io/dpdk_port.h"
#include "io/packet_socket.h"
#include "io/test_memory.h"

namespace engine {
namespace {

constexpr uint16_t kMark = 0x88b5;  // IEEE 802: for experiments
constexpr uint16_t kCustomer = 0x8100;
constexpr uint16_t kService = 0x88a8;  // IEEE 802.1ad

/// Has `test` done in a network namespace of its own.
void in_namespace(const std::function<void()>& test) {
  bool possible = true;
  std::thread([&] {
    possible = unshare(CLONE_NEWNET) == 0;
    if (possible) test();
  }).join();
  if (!possible) GTEST_SKIP() << "no network namespace to be had: run as root";
}

void command(const char* line) {
  EXPECT_EQ(std::system(line), 0) << line;
}

void make_veth() {
  command("ip link add va type veth peer name vb && ip link set va up && ip link set vb up");
}

std::unique_ptr<Port> open_device(const std::string& device) {
  std::vector<std::string> notices;
  auto port = open_dpdk_port(parse_device_name("--vdev=" + device), 0, 1, notices);
  port->queue(0).set_filter(port->mac(), true);
  return port;
}

std::unique_ptr<Port> open_socket(const std::string& interface) {
  auto port = open_packet_socket_port(interface, 1);
  port->queue(0).set_filter(port->mac(), true);
  return port;
}

/// Sends a frame with an outer tag of type `outer` and an inner 802.1Q tag from one port to the
/// other. Returns the types that arrive; the time is a limit, not a measure.
std::vector<uint16_t> carried(Port& from, Port& to, uint16_t outer) {
  Frame* const frame = from.queue(0).transmit().next();
  if (frame == nullptr) return {};
  std::memset(frame->head, 0, 60);
  std::memset(frame->head, 0xff, 6);
  store_be<uint16_t>(frame->head + 12, outer);
  store_be<uint16_t>(frame->head + 14, 0x2123);
  store_be<uint16_t>(frame->head + 16, kCustomer);
  store_be<uint16_t>(frame->head + 18, 0x0045);
  store_be<uint16_t>(frame->head + 20, kMark);
  frame->head_length = 60;
  from.queue(0).transmit().commit();
  from.queue(0).transmit().flush();
  std::vector<uint16_t> types;
  for (int i = 0; i < 5000 && types.empty(); ++i) {
    for (const Frame& one : to.queue(0).receive()) {
      if (one.head_length < 22 || load_be<uint16_t>(one.head + 20) != kMark) continue;
      EXPECT_EQ(load_be<uint16_t>(one.head + 14), 0x2123);
      EXPECT_EQ(load_be<uint16_t>(one.head + 18), 0x0045);
      types = {load_be<uint16_t>(one.head + 12), load_be<uint16_t>(one.head + 16)};
    }
    to.queue(0).release();
    if (types.empty()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return types;
}

void expect_both_kept(Port& from, Port& to) {
  for (const uint16_t outer : {kCustomer, kService})
    EXPECT_EQ(carried(from, to, outer), (std::vector<uint16_t>{outer, kCustomer}));
  EXPECT_EQ(to.queue(0).counters().assumed_tags, 0u);
}

TEST(VlanTag, KeepsItsTypeOnARing) {
  start_test_memory();
  const auto ring = open_device("net_ring_tags");
  expect_both_kept(*ring, *ring);
}

TEST(VlanTag, KeepsItsTypeOnATap) {
  in_namespace([] {
    if (access("/dev/net/tun", R_OK | W_OK) != 0) GTEST_SKIP() << "no /dev/net/tun";
    start_test_memory();
    const auto tap = open_device("net_tap_tags,iface=vtap");
    const auto kernel = open_socket("vtap");
    expect_both_kept(*tap, *kernel);
    expect_both_kept(*kernel, *tap);
  });
}

TEST(VlanTag, KeepsItsTypeOnAfXdp) {
  in_namespace([] {
    make_veth();
    start_test_memory();
    const auto device = open_device("net_af_xdp_tags,iface=va,busy_budget=0");
    const auto peer = open_socket("vb");
    expect_both_kept(*device, *peer);
    expect_both_kept(*peer, *device);
  });
}

// What the driver is handed beside the frame has no type of the tag.
TEST(VlanTag, OfAnUntoldTypeIsTakenFor802_1QAndCounted) {
  in_namespace([] {
    make_veth();
    start_test_memory();
    const auto device = open_device("net_af_packet_tags,iface=va");
    const auto peer = open_socket("vb");
    expect_both_kept(*device, *peer);
    for (const uint16_t outer : {kCustomer, kService})
      EXPECT_EQ(carried(*peer, *device, outer), (std::vector<uint16_t>{kCustomer, kCustomer}));
    EXPECT_EQ(device->queue(0).counters().assumed_tags, 2u);
  });
}

}  // namespace
}  // namespace engine
