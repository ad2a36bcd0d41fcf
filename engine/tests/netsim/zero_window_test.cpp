// Both ends of a connection close their windows, and take then what RFC 9293 section 3.10.7.4 lets
// them take.

#include <gtest/gtest.h>

#include <array>

#include "netsim/netsim.h"

namespace engine::netsim {
namespace {

using enum Counter;

constexpr size_t kIp = 14, kTcp = kIp + 20;
constexpr Nanoseconds kOpens = 8 * kSecond;  ///< the windows, on the segments that follow
constexpr uint32_t kBytes = 60'000;

/// What one end has told the other.
struct Told {
  uint32_t window = 1;
  uint32_t next = 0;  ///< RCV.NXT
};

/// Makes of a segment with payload one that is answered as this is at RCV.WND 0: with none of it.
void refuse_payload(Seen& seen) {
  std::vector<uint8_t>& bytes = seen.bytes;
  bytes.resize(bytes.size() - seen.segment.length);
  store_be<uint16_t>(&bytes[kIp + 2], static_cast<uint16_t>(bytes.size() - kIp));
  store_be<uint32_t>(&bytes[kTcp + 4], seen.segment.sequence - 1);
}

TEST(ZeroWindow, OfBothEndsOpensAgain) {
  Settings settings;
  settings.offloads.checksum = true;  // of frames that are changed, too
  Network network(
      settings,
      profile(
          {.request = kBytes,
           .response = kBytes,
           .limit = 1,
           .client_commands = R"({"name":"tx","buf_index":0},{"name":"rx","min_bytes":60000})",
           .server_commands =
               R"({"name":"connect"},{"name":"tx","buf_index":1},{"name":"rx","min_bytes":60000})"}),
      forever());
  std::array<Told, kSides> told;
  uint64_t not_acceptable = 0;
  network.filter = [&](Seen& seen) {
    if (seen.segment.is(tcp::kSyn)) return true;
    Told& own = told[index_of(seen.from)];
    const Told& other = told[1 - index_of(seen.from)];
    if (seen.time < kOpens) store_be<uint16_t>(&seen.bytes[kTcp + 14], 0);
    if (other.window == 0) {
      if (seen.segment.sequence != other.next) {
        ++not_acceptable;
        return false;
      }
      if (seen.segment.length != 0) refuse_payload(seen);
    }
    own.window = load_be<uint16_t>(&seen.bytes[kTcp + 14]);
    own.next = seen.segment.acknowledgment;
    return true;
  };
  network.run_until(kOpens);
  for (const Side side : {Side::client, Side::server})
    EXPECT_GT(network.count(side, tcps_sndprobe), 2u) << index_of(side);
  ASSERT_TRUE(network.drain(60 * kSecond));
  EXPECT_EQ(not_acceptable, 0u);
  for (const Side side : {Side::client, Side::server}) {
    EXPECT_EQ(network.count(side, tcps_rcvbyte), kBytes) << index_of(side);
    EXPECT_EQ(network.count(side, tcps_drops), 0u) << index_of(side);
  }
}

}  // namespace
}  // namespace engine::netsim
