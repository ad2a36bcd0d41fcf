// Whole connections between two stacks over a clean and an impaired wire.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <map>

#include "netsim/netsim.h"

namespace engine::netsim {
namespace {

using enum Counter;

/// Every payload byte that client and server see is the one that the other's program sent: buffers
/// are "GET" or "HTTP" followed by the byte counter 0, 1, 2 ...
void check_content(Network& network) {
  auto bases = std::make_shared<std::map<std::pair<Side, uint16_t>, uint32_t>>();
  network.filter = [bases](const Seen& seen) {
    if (seen.kind != PacketKind::tcp) return true;
    const uint16_t port =
        seen.from == Side::client ? seen.packet.source_port() : seen.packet.destination_port();
    auto& base = (*bases)[{seen.from, port}];
    if (seen.segment.is(tcp::kSyn)) base = seen.segment.sequence + 1;
    const std::string text = seen.from == Side::client ? "GET" : "HTTP";
    for (uint32_t i = 0; i < seen.segment.length; ++i) {
      const uint32_t offset = seen.segment.sequence - base + i;
      const auto wanted = offset < text.size() ? static_cast<uint8_t>(text[offset])
                                               : static_cast<uint8_t>(offset - text.size());
      EXPECT_EQ(seen.packet.payload()[i], wanted) << "offset " << offset;
      if (seen.packet.payload()[i] != wanted) return true;
    }
    return true;
  };
}

/// The consistency rules of ASTF counters for a run that drained.
void expect_consistent(Network& network, uint64_t flows, uint64_t request, uint64_t response) {
  const CounterBlock client = network.counters(Side::client);
  const CounterBlock server = network.counters(Side::server);
  EXPECT_EQ(client[tcps_connattempt], flows);
  EXPECT_EQ(client[tcps_connects], flows);
  EXPECT_EQ(client[tcps_closed], flows);
  EXPECT_EQ(server[tcps_accepts], flows);
  EXPECT_EQ(server[tcps_connects], flows);
  EXPECT_EQ(server[tcps_closed], flows);
  EXPECT_EQ(client[tcps_sndbyte], flows * request);
  EXPECT_EQ(server[tcps_rcvbyte], flows * request);
  EXPECT_EQ(server[tcps_sndbyte], flows * response);
  EXPECT_EQ(client[tcps_rcvbyte], flows * response);
  EXPECT_EQ(client[tcps_rcvackbyte], client[tcps_sndbyte]);
  EXPECT_EQ(server[tcps_rcvackbyte], server[tcps_sndbyte]);
  EXPECT_EQ(client[tcps_sndbyte_ok], client[tcps_sndbyte]);
  EXPECT_EQ(server[tcps_sndbyte_ok], server[tcps_sndbyte]);
  EXPECT_EQ(client[tcps_reasalloc], client[tcps_reasfree]);
  EXPECT_EQ(network.core(Side::client).open_flows(), 0u);
  EXPECT_EQ(network.core(Side::server).open_flows(), 0u);
  for (Side side : {Side::client, Side::server})
    for (const PoolStatus& pool : network.core(side).memory())
      EXPECT_EQ(pool.in_use, 0u) << pool.name;
}

void expect_no_error_counter(const CounterBlock& counters, const char* side) {
#define BAR(...)
#define GAUGE(...)
#define COUNTER(name, severity, help)                      \
  if (std::string_view(#severity) == "error") {            \
    EXPECT_EQ(counters[name], 0u) << side << " " << #name; \
  }
#define INTERNAL(name)
#include "stats/counters.def"
#undef INTERNAL
#undef BAR
#undef GAUGE
#undef COUNTER
}

TEST(HttpFlows, ACleanWireLeavesEveryCounterConsistentAndNoErrorCounter) {
  Network network({}, profile({.cps = 500, .limit = 300}), forever());
  check_content(network);
  ASSERT_TRUE(network.drain(20 * kSecond));
  expect_consistent(network, 300, 100, 32000);
  expect_no_error_counter(network.counters(Side::client), "client");
  expect_no_error_counter(network.counters(Side::server), "server");
  expect_no_error_counter(network.table_counters(Side::client), "client");
  expect_no_error_counter(network.table_counters(Side::server), "server");
}

TEST(HttpFlows, SegmentationByTheDeviceCarriesTheSameBytesInFewerFrames) {
  Settings settings;
  Network plain(settings, profile({.limit = 20}), forever());
  ASSERT_TRUE(plain.drain(20 * kSecond));
  settings.offloads = {.checksum = true, .max_payload = 65000};
  Network offloading(settings, profile({.limit = 20}), forever());
  check_content(offloading);
  ASSERT_TRUE(offloading.drain(20 * kSecond));
  expect_consistent(offloading, 20, 100, 32000);
  EXPECT_LT(offloading.frames_sent(Side::server), plain.frames_sent(Side::server) / 2);
}

TEST(HttpFlows, SegmentsReceivedTogetherAreAcknowledgedTogether) {
  Settings settings;
  Network one_by_one(settings, profile({.limit = 20}), forever());
  ASSERT_TRUE(one_by_one.drain(20 * kSecond));
  settings.burst = 64;
  Network together(settings, profile({.limit = 20}), forever());
  check_content(together);
  ASSERT_TRUE(together.drain(20 * kSecond));
  expect_consistent(together, 20, 100, 32000);
  EXPECT_LT(together.count(Side::client, Counter::tcps_sndacks),
            one_by_one.count(Side::client, Counter::tcps_sndacks) / 2);
  EXPECT_EQ(together.count(Side::server, Counter::tcps_sndrexmitpack), 0u);
}

struct Case {
  const char* name;
  double loss, duplication, reordering;
  uint32_t response;
  uint64_t flows;
  const char* client_tcp;
  const char* server_tcp;
};

std::ostream& operator<<(std::ostream& out, const Case& c) {
  return out << c.name;
}

class ImpairedHttpFlows : public testing::TestWithParam<Case> {};

TEST_P(ImpairedHttpFlows, EveryFlowIsWhole) {
  const Case& c = GetParam();
  Settings settings;
  settings.seed = 42;
  settings.to_server.loss = settings.to_client.loss = c.loss;
  settings.to_server.duplication = settings.to_client.duplication = c.duplication;
  settings.to_server.reordering = settings.to_client.reordering = c.reordering;
  Network network(settings,
                  profile({.response = c.response,
                           .cps = 200,
                           .limit = c.flows,
                           .client_tcp = c.client_tcp,
                           .server_tcp = c.server_tcp}),
                  forever());
  check_content(network);
  ASSERT_TRUE(network.drain(200 * kSecond));
  expect_consistent(network, c.flows, 100, c.response);
  if (c.loss > 0) {
    EXPECT_GT(network.count(Side::server, tcps_sndrexmitpack), 0u);
  }
}

constexpr const char* kPlain = R"({"do_sack":0,"do_rfc1323":0})";
constexpr const char* kDefault = "{}";

INSTANTIATE_TEST_SUITE_P(
    Wire, ImpairedHttpFlows,
    testing::Values(Case{"loss_1_percent_sack", 0.01, 0, 0, 32000, 300, kDefault, kDefault},
                    Case{"loss_1_percent_newreno", 0.01, 0, 0, 32000, 300, kPlain, kPlain},
                    Case{"loss_5_percent_sack", 0.05, 0, 0, 100'000, 50, kDefault, kDefault},
                    Case{"loss_5_percent_newreno", 0.05, 0, 0, 100'000, 50, kPlain, kPlain},
                    Case{"duplicates_and_disorder", 0, 0.1, 0.1, 100'000, 60, kDefault, kDefault},
                    Case{"duplicates_and_disorder_newreno", 0, 0.1, 0.1, 100'000, 60, kPlain,
                         kPlain},
                    Case{"everything_at_once", 0.02, 0.02, 0.02, 300'000, 20, kDefault, kDefault},
                    Case{"small_segments", 0.01, 0, 0.01, 20'000, 40, R"({"mss":100})", kDefault},
                    Case{"tiny_windows", 0.01, 0, 0, 20'000, 20, R"({"rxbufsize":1024})", kDefault},
                    Case{"large_windows", 0.01, 0, 0, 3'000'000, 3, R"({"rxbufsize":1048576})",
                         R"({"txbufsize":1048576})"},
                    Case{"one_side_without_options", 0.02, 0, 0, 32000, 100, kPlain, kDefault}),
    [](const auto& info) { return info.param.name; });

TEST(HttpFlows, CorruptedFramesAreCountedAndTheFlowsWholeAllTheSame) {
  Settings settings;
  settings.to_server.corruption = settings.to_client.corruption = 0.02;
  Network network(settings, profile({.cps = 200, .limit = 100}), forever());
  ASSERT_TRUE(network.drain(100 * kSecond));
  EXPECT_EQ(network.count(Side::client, tcps_closed), 100u);
  EXPECT_EQ(network.count(Side::client, tcps_rcvbyte), 100u * 32000);
  const CounterBlock table = network.table_counters(Side::client);
  EXPECT_GT(table[err_l4_cs] + table[err_l3_cs], 0u);
}

TEST(HttpFlows, TheSameSeedGivesTheSameRun) {
  std::array<uint64_t, 2> frames;
  for (uint64_t& count : frames) {
    Settings settings;
    settings.to_client.loss = 0.03;
    Network network(settings, profile({.limit = 40}), forever());
    ASSERT_TRUE(network.drain(100 * kSecond));
    count = network.frames_sent(Side::server) * 100000 + network.frames_sent(Side::client);
  }
  EXPECT_EQ(frames[0], frames[1]);
}

TEST(HttpFlows, ACoreThatIsLateOpensNothingLongAfterTheEnd) {
  RunOptions options;
  options.duration = 1 * kSecond;
  Network network({}, profile({.response = 100, .cps = 1000}), options);
  network.run_until(500 * kMillisecond);
  network.skip(5 * kSecond);  // the core was not run meanwhile
  ASSERT_TRUE(network.drain(20 * kSecond));
  const RunStatus status = network.status(Side::client);
  EXPECT_EQ(status.intended, 890u);  // from 0.11 s on
  EXPECT_EQ(status.opened + status.unsent, status.intended);
  EXPECT_LT(status.opened, 500u);
  EXPECT_GT(status.late, 0u);
}

TEST(HttpFlows, ALimitIsAllThatIsIntended) {
  Network network({}, profile({.response = 100, .cps = 1000, .limit = 50}), forever());
  ASSERT_TRUE(network.drain(20 * kSecond));
  const RunStatus status = network.status(Side::client);
  EXPECT_EQ(status.intended, 50u);
  EXPECT_EQ(status.opened, 50u);
  EXPECT_EQ(status.unsent, 0u);
}

TEST(HttpFlows, ADeadPeerIsGivenUpAndCounted) {
  Network network({}, profile({.cps = 100, .limit = 5}), forever());
  network.filter = [](const Seen& seen) { return seen.from == Side::client; };
  ASSERT_TRUE(network.drain(60 * kSecond));
  const CounterBlock client = network.counters(Side::client);
  EXPECT_EQ(client[tcps_conndrops], 5u);
  EXPECT_EQ(client[tcps_closed], 5u);
  EXPECT_EQ(client[tcps_connects], 0u);
  EXPECT_GE(client[tcps_rexmttimeo_syn], 10u);
}

TEST(HttpFlows, AFullTableRefusesFlowsAndCountsThem) {
  Settings settings;
  settings.max_flows = 50;
  Network network(settings, profile({.cps = 5000, .limit = 400}), forever());
  ASSERT_TRUE(network.drain(60 * kSecond));
  EXPECT_GT(network.table_counters(Side::client)[err_c_nf_throttled], 0u);
  EXPECT_EQ(network.core(Side::client).open_flows(), 0u);
}

TEST(HttpFlows, TheEndOfARunCutsFlowsSilentlyAndCountsThem) {
  // A window arrives every 10 ms: no flow has its 10 MB within the second.
  Settings slow;
  slow.to_client.delay = 10 * kMillisecond;
  Network network(slow, profile({.response = 10'000'000, .cps = 100}), forever());
  network.run_until(1 * kSecond);
  ASSERT_GT(network.core(Side::client).open_flows(), 50u);
  const uint64_t sent = network.frames_sent(Side::client);
  network.close(Side::client);
  EXPECT_EQ(network.core(Side::client).open_flows(), 0u);
  EXPECT_EQ(network.frames_sent(Side::client), sent);
  const CounterBlock client = network.counters(Side::client);
  EXPECT_GT(client[tcps_testdrops], 50u);
  EXPECT_EQ(client[tcps_closed], client[tcps_connattempt]);
}

}  // namespace
}  // namespace engine::netsim
