#include "net/tunnel_end.h"

#include <gtest/gtest.h>
#include <malloc.h>

#include <algorithm>
#include <vector>

#include "base/byte_order.h"
#include "net/ethernet.h"
#include "net/recording_device.h"

namespace engine {
namespace {

/// Bytes that the C library has given out.
size_t allocated() {
  const struct mallinfo2 now = mallinfo2();
  return now.uordblks + now.hblkhd;
}

/// The most that a burst of frames had allocated, each from a client of its own, of as many clients
/// as can be learned.
size_t most_of_a_burst() {
  constexpr size_t kHead = 14, kSource = 12;
  std::vector<uint8_t> room(kHeadRoom);
  const auto fill = [&](Frame& frame) {
    frame = {};
    frame.head = room.data() + 100;
    frame.head_length = kHead + 20 + 20;
    std::fill(room.begin(), room.end(), 0);
    store_be<uint16_t>(frame.head + 12, kEtherTypeIpv4);
    frame.head[kHead] = 0x45;
    store_be<uint16_t>(frame.head + kHead + 2, 40);
    frame.head[kHead + 9] = kProtocolTcp;
  };
  Tunnel tunnel{IpAddress::v4(0x0101010b), IpAddress::v4(0x0c020202), 1000, 5000};
  TunnelEnd end(Side::server);
  size_t most = 0;
  size_t before = allocated();
  for (uint32_t client = 0; client < TunnelEnd::kMostLearned; ++client) {
    Frame frame;
    fill(frame);
    store_be<uint32_t>(frame.head + kHead + kSource, client);
    tunnel.teid = client;
    EXPECT_TRUE(encapsulate(frame, tunnel));
    EXPECT_TRUE(end.pass_received(frame));
    if (client % TransmitQueue::kBurst != 0) continue;
    most = std::max(most, allocated() - before);
    before = allocated();
  }
  return most;
}

/// A core learns of clients between others' frames, so no one of them may take long. A table that
/// grows has a larger array allocated, and sorts all that it holds into that.
TEST(TunnelEnd, LearnsOfAMillionClientsOneAsFastAsAnother) {
  constexpr size_t kLimit = 64 * 1024;
  const size_t before = allocated();
  const std::vector<uint8_t> seen(kLimit);
  if (allocated() - before < kLimit) GTEST_SKIP() << "this allocator does not tell what it gave";
  EXPECT_LT(most_of_a_burst(), kLimit);
}

}  // namespace
}  // namespace engine
