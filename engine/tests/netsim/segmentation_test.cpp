// Segments that a device cuts (TSO), and what becomes of a flow when single ones of them are lost.

#include <gtest/gtest.h>

#include <algorithm>

#include "json/parse_profile.h"
#include "net/ethernet.h"
#include "netsim/netsim.h"

namespace engine::netsim {
namespace {

using enum Counter;

constexpr uint32_t kMss = 1000;
constexpr uint64_t kSegmentedFlows = 20;
constexpr uint32_t kSegmentedResponse = 500'000;
/// Of a flow, or of what it waits for with nobody to tell it of a loss: RTO and its back-off.
constexpr Nanoseconds kLongest = 10 * kSecond;

class Segmentation : public testing::TestWithParam<const char*> {};

TEST_P(Segmentation, ALostSegmentIsRepairedWithoutAStall) {
  Settings settings;
  settings.offloads = {.checksum = true, .max_payload = 60'000};
  settings.device_cuts = true;
  settings.burst = 32;
  settings.to_client.loss = settings.to_server.loss = 0.02;
  const std::string tcp = R"({"mss":)" + std::to_string(kMss) + GetParam() + "}";
  for (settings.seed = 1; settings.seed <= 5; ++settings.seed) {
    Network network(settings,
                    profile({.response = kSegmentedResponse,
                             .cps = 1000,
                             .limit = kSegmentedFlows,
                             .client_tcp = tcp,
                             .server_tcp = tcp}),
                    forever());
    uint32_t longest = 0;
    uint64_t seen = 0;
    network.filter = [&](const Seen& frame) {
      longest = std::max(longest, frame.segment.length);
      seen += frame.from == Side::server;
      return true;
    };
    ASSERT_TRUE(network.drain(kLongest)) << "seed " << settings.seed;
    EXPECT_EQ(network.count(Side::client, tcps_rcvbyte), kSegmentedFlows * kSegmentedResponse);
    EXPECT_EQ(network.count(Side::server, tcps_drops), 0u);
    EXPECT_GT(network.count(Side::server, tcps_sndrexmitpack), 0u);
    EXPECT_LE(longest, kMss);
    EXPECT_GT(seen, 2 * network.frames_sent(Side::server)) << "nothing was cut";
  }
}

INSTANTIATE_TEST_SUITE_P(Recovery, Segmentation, testing::Values("", R"(,"do_sack":0)"));

TEST(MaximumSegment, LeavesPacketsOf1500BytesInEitherVersion) {
  for (const bool ipv6 : {false, true}) {
    const auto parsed = parse_profile(profile({.response = 100'000, .limit = 5}), ipv6);
    Network network({}, parsed, forever());
    size_t longest = 0;
    network.filter = [&](const Seen& frame) {
      longest = std::max(longest, frame.bytes.size() - kEthernetLength);
      return true;
    };
    ASSERT_TRUE(network.drain(kLongest));
    EXPECT_EQ(network.count(Side::client, tcps_rcvbyte), 500'000u);
    EXPECT_EQ(longest, 1500u) << (ipv6 ? "IPv6" : "IPv4");
  }
}

}  // namespace
}  // namespace engine::netsim
