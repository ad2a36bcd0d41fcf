// Paths whose MTU is smaller than what a port may send, and messages about them that nobody should
// believe: RFC 1191, RFC 8201, RFC 5927.

#include <gtest/gtest.h>

#include "json/parse_profile.h"
#include "net/ip.h"
#include "net/path_mtu_message.h"
#include "netsim/netsim.h"
#include "netsim/several_templates.h"

namespace engine::netsim {
namespace {

using enum Counter;

constexpr uint64_t kTransfers = 5;
constexpr uint32_t kTransferBytes = 160'000;
constexpr uint32_t kUploadBytes = 20'000;
/// Of a run with its TIME_WAIT; what waited for a timeout is counted in tcps_rexmttimeo.
constexpr Nanoseconds kLongestRun = 5 * kSecond;

struct TransferCase {
  const char* name;
  bool ipv6 = false;
  const char* tcp = "{}";
  bool cut_by_device = false;
};

std::shared_ptr<const Profile> transfers_of(const TransferCase& of) {
  return parse_profile(profile({.request = kUploadBytes,
                                .response = kTransferBytes,
                                .limit = kTransfers,
                                .client_tcp = of.tcp,
                                .server_tcp = of.tcp}),
                       of.ipv6);
}

Settings settings_of(const TransferCase& of) {
  Settings settings;
  if (of.cut_by_device) {
    settings.offloads = {.checksum = true, .max_payload = 60'000};
    settings.device_cuts = true;
    settings.burst = 32;
  }
  return settings;
}

Side other_end(Side side) {
  return side == Side::client ? Side::server : Side::client;
}

/// A router between both ends whose links carry packets of `mtu` bytes. What it says has `says`.
struct NarrowRouter {
  NarrowRouter(Network& network, uint32_t mtu, RouterSays says) : mtu(mtu), says(says) {
    network.filter = [this, &network](const Seen& frame) { return pass(network, frame); };
  }
  bool pass(Network& network, const Seen& frame) {
    const size_t length = frame.bytes.size() - kEthernetLength;
    if (frame.kind != PacketKind::tcp) return true;
    if (length <= mtu) {
      longest = std::max(longest, length);
      return true;
    }
    ++refused;
    network.inject(other_end(frame.from), too_long_message(frame.bytes, says));
    return false;
  }

  uint32_t mtu;
  RouterSays says;
  size_t longest = 0;
  uint64_t refused = 0;
};

class PathMtu : public testing::TestWithParam<TransferCase> {};

void expect_whole_transfers(Network& network) {
  EXPECT_EQ(network.count(Side::client, tcps_rcvbyte), kTransfers * kTransferBytes);
  EXPECT_EQ(network.count(Side::server, tcps_rcvbyte), kTransfers * kUploadBytes);
  for (const Side side : {Side::client, Side::server}) {
    EXPECT_EQ(network.count(side, tcps_rexmttimeo), 0u);
    EXPECT_EQ(network.count(side, tcps_drops), 0u);
    EXPECT_EQ(network.core(side).drops(side)[Drop::path_mtu_refused], 0u);
  }
}

TEST_P(PathMtu, ATransferBehindARouterIsWhole) {
  Network network(settings_of(GetParam()), transfers_of(GetParam()), forever());
  NarrowRouter router(network, 1400, {.mtu = 1400});
  ASSERT_TRUE(network.drain(kLongestRun));
  expect_whole_transfers(network);
  EXPECT_EQ(router.longest, 1400u);
  for (const Side side : {Side::client, Side::server}) {
    const PathMtuCounts counts = network.core(side).path_mtu(side);
    EXPECT_GE(counts.accepted, 1u);
    EXPECT_EQ(counts.least, 1400u);
  }
}

TEST_P(PathMtu, APathThatBecomesNarrowerIsFollowed) {
  Network network(settings_of(GetParam()), transfers_of(GetParam()), forever());
  NarrowRouter router(network, 1500, {.mtu = 1500});
  uint64_t passed = 0;
  network.filter = [&](const Seen& frame) {
    if (++passed == 100) router.mtu = router.says.mtu = 1400;
    if (passed == 200) router.mtu = router.says.mtu = 1300;
    return router.pass(network, frame);
  };
  ASSERT_TRUE(network.drain(kLongestRun));
  expect_whole_transfers(network);
  EXPECT_EQ(network.core(Side::server).path_mtu(Side::server).least, 1300u);
}

INSTANTIATE_TEST_SUITE_P(Kinds, PathMtu,
                         testing::Values(TransferCase{"IPv4"}, TransferCase{"IPv6", true},
                                         TransferCase{"Cubic", false, R"({"cc_algo":1})"},
                                         TransferCase{"WithoutSack", false, R"({"do_sack":0})"},
                                         TransferCase{"WithoutTimestamps", true,
                                                      R"({"do_rfc1323":0})"},
                                         TransferCase{"CutByTheDevice", false, "{}", true},
                                         TransferCase{"CutIPv6", true, "{}", true}),
                         [](const auto& kind) { return kind.param.name; });

TEST(PathMtu, ARouterThatNamesNoMtuIsTried) {
  const TransferCase ipv4{"IPv4"};
  Network network(settings_of(ipv4), transfers_of(ipv4), forever());
  NarrowRouter router(network, 1000, {.mtu = 0});
  ASSERT_TRUE(network.drain(kLongestRun));
  expect_whole_transfers(network);
  EXPECT_EQ(router.longest, 508u) << "RFC 1191 table 7-1: not 1,492, not 1,006";
}

TEST(PathMtu, OfAPathThatIsKnownIsNotFoundAgain) {
  for (const bool ipv6 : {false, true}) {
    const auto parsed = parse_profile(
        profile({.request = kUploadBytes, .response = kTransferBytes, .cps = 2, .limit = 3}), ipv6);
    // All clients have one address.
    auto same_client = std::make_shared<Profile>(*parsed);
    for (AddressRange& range : same_client->ranges) range.last = range.first;
    Network network({}, same_client, forever());
    NarrowRouter router(network, 1400, {.mtu = 1400});
    network.run_until(600 * kMillisecond);
    const uint64_t at_first = router.refused;
    EXPECT_GT(at_first, 0u);
    ASSERT_TRUE(network.drain(kLongestRun));
    EXPECT_EQ(network.count(Side::client, tcps_rcvbyte), 3u * kTransferBytes);
    EXPECT_EQ(router.refused, at_first);
    EXPECT_EQ(router.longest, 1400u);
  }
}

/// What an attacker, or a router that is wrong, might say of the first long packet.
struct ForgedMessage {
  const char* name;
  bool ipv6;
  uint32_t mtu;
  uint32_t sequence_off = 0;
  uint16_t port_off = 0;
};

class ForgedPathMtu : public testing::TestWithParam<ForgedMessage> {};

TEST_P(ForgedPathMtu, IsRefusedAndCountedAndChangesNothing) {
  const ForgedMessage& forged = GetParam();
  const TransferCase of{"", forged.ipv6};
  Network network(settings_of(of), transfers_of(of), forever());
  size_t longest_after = 0;
  bool said = false;
  network.filter = [&](const Seen& frame) {
    if (frame.kind != PacketKind::tcp || frame.from != Side::server) return true;
    const size_t length = frame.bytes.size() - kEthernetLength;
    if (said) longest_after = std::max(longest_after, length);
    if (said || length < 1500) return true;
    said = true;
    std::vector<uint8_t> quoted = frame.bytes;
    uint8_t* const tcp = quoted.data() + (frame.packet.header - frame.bytes.data());
    store_be<uint32_t>(tcp + 4, frame.segment.sequence + forged.sequence_off);
    store_be<uint16_t>(tcp + 2,
                       static_cast<uint16_t>(frame.packet.destination_port() + forged.port_off));
    network.inject(Side::client, too_long_message(quoted, {.mtu = forged.mtu}));
    return true;
  };
  ASSERT_TRUE(network.drain(kLongestRun));
  ASSERT_TRUE(said);
  EXPECT_EQ(network.count(Side::client, tcps_rcvbyte), kTransfers * kTransferBytes);
  EXPECT_EQ(network.core(Side::server).drops(Side::server)[Drop::path_mtu_refused], 1u);
  EXPECT_EQ(network.core(Side::server).path_mtu(Side::server).accepted, 0u);
  EXPECT_EQ(network.count(Side::server, tcps_sndrexmitpack), 0u);
  EXPECT_EQ(longest_after, 1500u);
}

INSTANTIATE_TEST_SUITE_P(
    Kinds, ForgedPathMtu,
    testing::Values(
        ForgedMessage{"AcknowledgedIPv4", false, 1400, static_cast<uint32_t>(-1)},
        ForgedMessage{"AcknowledgedIPv6", true, 1400, static_cast<uint32_t>(-1)},
        ForgedMessage{"NeverSentIPv4", false, 1400, 1'000'000},
        ForgedMessage{"NeverSentIPv6", true, 1400, 1'000'000},
        ForgedMessage{"NoSuchFlow", false, 1400, 0, 1}, ForgedMessage{"LargerIPv4", false, 1501},
        ForgedMessage{"LargerIPv6", true, 1501}, ForgedMessage{"HugeIPv6", true, UINT32_MAX},
        ForgedMessage{"BelowTheFloorIPv4", false, 67},
        ForgedMessage{"BelowTheFloorIPv6", true, 1279}, ForgedMessage{"NoneIPv6", true, 0}),
    [](const auto& kind) { return kind.param.name; });

TEST(PathMtu, ASynIsNeverTooLong) {
  Network network({}, profile({.limit = 1}), forever());
  network.filter = [&](const Seen& frame) {
    if (frame.kind == PacketKind::tcp && frame.segment.is(tcp::kSyn))
      network.inject(other_end(frame.from), too_long_message(frame.bytes, {.mtu = 1400}));
    return true;
  };
  ASSERT_TRUE(network.drain(kLongestRun));
  for (const Side side : {Side::client, Side::server}) {
    EXPECT_EQ(network.core(side).drops(side)[Drop::path_mtu_refused], 1u);
    EXPECT_EQ(network.core(side).path_mtu(side).accepted, 0u);
  }
}

/// RFC 1191 section 6.5: the window is not halved, and begins anew.
TEST(PathMtu, IsNoSignOfCongestion) {
  Network network({}, profile({.response = 2'000'000, .limit = 1}), forever());
  NarrowRouter router(network, 1500, {.mtu = 1500});
  uint64_t passed = 0;
  network.filter = [&](const Seen& frame) {
    if (frame.from == Side::server && ++passed == 200) router.mtu = router.says.mtu = 1400;
    return router.pass(network, frame);
  };
  ASSERT_TRUE(network.drain(kLongestRun));
  EXPECT_EQ(network.count(Side::client, tcps_rcvbyte), 2'000'000u);
  EXPECT_EQ(network.count(Side::server, tcps_rexmttimeo), 0u);
  EXPECT_EQ(network.count(Side::server, tcps_sack_recovery_episode), 0u);
}

constexpr uint32_t kDatagramPacket = kIpv4Length + kUdpLength + 1000;

/// Datagrams of one buffer of 1,000 bytes each way.
std::string datagrams() {
  const std::string ask = R"({"name":"tx_msg","buf_index":3},{"name":"rx_msg","min_pkts":1})";
  const std::string reply = R"({"name":"rx_msg","min_pkts":1},{"name":"tx_msg","buf_index":3})";
  return several({program(ask, false), program(reply, false)}, {flow_template(0, 1, 10, 0)}, {});
}

TEST(PortMtu, ADatagramThatIsTooLongForItsPortIsNotSentAndCounted) {
  for (const uint32_t mtu : {kDatagramPacket, kDatagramPacket - 1, 0u}) {
    RunOptions options;
    options.duration = kSecond;
    options.mtus = {mtu, mtu};
    Network network({}, datagrams(), options);
    ASSERT_TRUE(network.drain(10 * kSecond));
    const auto client = network.run(Side::client).counters(Side::client)[0];
    EXPECT_GE(client[udps_connects], 9u);
    const bool fits = mtu != kDatagramPacket - 1;
    EXPECT_EQ(client[udps_pkt_toobig], fits ? 0 : client[udps_connects]) << mtu;
    EXPECT_EQ(client[udps_sndpkt], fits ? client[udps_connects] : 0) << mtu;
  }
}

TEST(PortMtu, TagsTakeSomeOfItWhereTheyCount) {
  for (const VlanTags tags : {VlanTags{}, vlan_tags(30, 40)}) {
    Settings settings;
    settings.tags = tags;
    RunOptions options;
    options.duration = kSecond;
    options.mtus = {kDatagramPacket, kDatagramPacket};
    options.tags_count = {true, true};
    Network network(settings, datagrams(), options);
    ASSERT_TRUE(network.drain(10 * kSecond));
    const auto client = network.run(Side::client).counters(Side::client)[0];
    EXPECT_GE(client[udps_connects], 9u);
    EXPECT_EQ(client[udps_pkt_toobig], tags == VlanTags{} ? 0 : client[udps_connects]);
  }
}

}  // namespace
}  // namespace engine::netsim
