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

/// Of one end or of both: it sends no longer packets, and its SYN asks for no longer ones.
TEST(MaximumSegment, FitsAPortWithASmallerMtu) {
  struct {
    bool ipv6;
    std::array<uint32_t, kSides> mtus;
    const char* tcp;
    uint16_t client_offers, server_offers;
    size_t longest;
  } const cases[] = {
      {false, {1400, 1400}, "{}", 1360, 1360, 1400},
      {true, {1400, 1400}, "{}", 1340, 1340, 1400},
      {false, {1400, 1500}, "{}", 1360, 1460, 1400},
      {true, {1500, 1400}, "{}", 1440, 1340, 1400},
      {false, {9000, 9000}, "{}", 1460, 1460, 1500},
      {false, {9000, 9000}, R"({"mss":8960})", 8960, 8960, 9000},
      {true, {9000, 9000}, R"({"mss":8960})", 8940, 8940, 9000},
      {true, {1500, 1500}, R"({"mss":1460})", 1440, 1440, 1500},
      {true, {0, 0}, R"({"mss":1460})", 1460, 1460, 1520},
      {false, {1400, 1400}, R"({"mss":1000})", 1000, 1000, 1040},
  };
  for (const auto& of : cases) {
    RunOptions options;
    options.mtus = of.mtus;
    const auto parsed = parse_profile(
        profile({.response = 100'000, .limit = 5, .client_tcp = of.tcp, .server_tcp = of.tcp}),
        of.ipv6);
    Network network({}, parsed, options);
    size_t longest = 0;
    network.filter = [&](const Seen& frame) {
      longest = std::max(longest, frame.bytes.size() - kEthernetLength);
      if (frame.segment.is(tcp::kSyn)) {
        EXPECT_EQ(frame.segment.mss,
                  frame.from == Side::client ? of.client_offers : of.server_offers);
      }
      return true;
    };
    ASSERT_TRUE(network.drain(60 * kSecond));
    EXPECT_EQ(network.count(Side::client, tcps_rcvbyte), 500'000u);
    EXPECT_EQ(longest, of.longest) << of.mtus[0] << ", " << of.mtus[1] << (of.ipv6 ? " IPv6" : "");
  }
}

}  // namespace
}  // namespace engine::netsim
