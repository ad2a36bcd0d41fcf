#include "net/tunnel_end.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <ctime>
#include <vector>

#include "base/byte_order.h"
#include "net/ethernet.h"
#include "net/recording_device.h"

namespace engine {
namespace {

/// CPU time of this thread, so that others on the machine do not count.
Nanoseconds cpu_time() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return time.tv_sec * kSecond + time.tv_nsec;
}

/// The longest that a burst of frames took, each from a client of its own, of as many clients as
/// can be learned.
Nanoseconds longest_burst() {
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
  Nanoseconds longest = 0;  // of a burst
  Nanoseconds before = cpu_time();
  for (uint32_t client = 0; client < TunnelEnd::kMostLearned; ++client) {
    Frame frame;
    fill(frame);
    store_be<uint32_t>(frame.head + kHead + kSource, client);
    tunnel.teid = client;
    EXPECT_TRUE(encapsulate(frame, tunnel));
    EXPECT_TRUE(end.pass_received(frame));
    if (client % TransmitQueue::kBurst != 0) continue;
    longest = std::max(longest, cpu_time() - before);
    before = cpu_time();
  }
  return longest;
}

/// A core learns of clients between others' frames, so no one of them may take long.
TEST(TunnelEnd, LearnsOfAMillionClientsOneAsFastAsAnother) {
  constexpr Nanoseconds kLimit = 3 * kMillisecond;
  // A table that grows is slow in each try. A machine that is busy with something else is in one.
  Nanoseconds least = longest_burst();
  for (int again = 0; again < 2 && least >= kLimit; ++again)
    least = std::min(least, longest_burst());
  EXPECT_LT(least, kLimit);
}

}  // namespace
}  // namespace engine
