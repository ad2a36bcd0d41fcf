// Connections with TLS: both ends are the engine's own, byte for byte, on the virtual clock.

#include <gtest/gtest.h>

#include "netsim/netsim.h"
#include "netsim/random_settings.h"
#include "netsim/several_templates.h"
#include "netsim/tls_peer.h"
#include "tls/options.h"

namespace engine::netsim {
namespace {

using tls::CertificateKind;
using tls::Version;

constexpr uint64_t kFlows = 20;
/// Alerts, RFC 8446 section 6.
constexpr size_t kBadRecordMac = 20;
constexpr size_t kHandshakeFailure = 40;
constexpr size_t kProtocolVersion = 70;
constexpr size_t kNoApplicationProtocol = 120;

std::shared_ptr<const tls::Identity> identity(CertificateKind kind) {
  static const auto ecdsa = tls::make_identity(CertificateKind::p256, "stackcost.test");
  static const auto rsa = tls::make_identity(CertificateKind::rsa2048, "stackcost.test");
  return kind == CertificateKind::p256 ? ecdsa : rsa;
}

RunOptions with(tls::Options options, CertificateKind kind = CertificateKind::p256) {
  options.identity = identity(kind);
  RunOptions run;
  run.payload_check = {.enabled = true, .skip_bytes = 0};
  run.tls = {std::make_shared<const tls::Options>(std::move(options))};
  return run;
}

TlsCounts counts(Network& network, Side side) {
  const std::vector<TlsBlock> blocks = network.run(side).report().tls;
  EXPECT_EQ(blocks.size(), 1u);
  EXPECT_TRUE(blocks.at(0).used);
  return blocks.at(0).sides[index_of(side)];
}

/// Every flow was complete, ended with close_notify, and had each byte that the other end sent.
void expect_whole(Network& network, uint64_t flows, const HttpLike& http) {
  for (const Side side : {Side::client, Side::server}) {
    const TlsCounts found = counts(network, side);
    const uint64_t sent = side == Side::client ? http.request : http.response;
    const uint64_t received = side == Side::client ? http.response : http.request;
    EXPECT_EQ(found.full + found.resumed, flows);
    EXPECT_EQ(found.failed + found.truncated, 0u);
    EXPECT_EQ(found.sent_bytes, flows * sent);
    EXPECT_EQ(found.received_bytes, flows * received);
    const PayloadCounts payload = network.run(side).report().payload.at(0).sides[index_of(side)];
    EXPECT_EQ(payload.compared_bytes, flows * received);
    EXPECT_EQ(payload.mismatched_bytes + payload.unknown_bytes, 0u);
    EXPECT_EQ(network.status(side).established, flows);
  }
}

struct Kind {
  Version version;
  const char* groups;
  CertificateKind certificate;
  bool resumption;
};

class TlsKinds : public ::testing::TestWithParam<Kind> {};

TEST_P(TlsKinds, EveryFlowIsWhole) {
  const Kind& kind = GetParam();
  const HttpLike http{.request = 3000, .response = 100'000, .limit = kFlows};
  Network network({}, profile(http),
                  with({.version = kind.version,
                        .groups = kind.groups,
                        .resumption = kind.resumption,
                        .server_name = "stackcost.test",
                        .alpn = "http/1.1"},
                       kind.certificate));
  ASSERT_TRUE(network.drain(20 * kSecond));
  expect_whole(network, kFlows, http);
  // The first connection has no ticket yet.
  EXPECT_EQ(counts(network, Side::client).resumed, kind.resumption ? kFlows - 1 : 0u);
  EXPECT_EQ(counts(network, Side::server).resumed, kind.resumption ? kFlows - 1 : 0u);
}

INSTANTIATE_TEST_SUITE_P(
    Netsim, TlsKinds,
    ::testing::Values(Kind{Version::tls13, "", CertificateKind::p256, false},
                      Kind{Version::tls13, "P-256", CertificateKind::rsa2048, true},
                      Kind{Version::tls13, "X25519", CertificateKind::p256, true},
                      Kind{Version::tls12, "P-256", CertificateKind::p256, false},
                      Kind{Version::tls12, "X25519", CertificateKind::rsa2048, true},
                      Kind{Version::both, "", CertificateKind::rsa2048, false}));

// Loss, reordering, duplicates and damage; windows from 2 KB, segments from 100 bytes, with and
// without SACK and time stamps.
class TlsOverALossyWire : public ::testing::TestWithParam<uint64_t> {};

TEST_P(TlsOverALossyWire, EveryFlowIsWhole) {
  Draw draw(GetParam());
  const Settings settings = draw.settings();
  const HttpLike http = draw.http();
  Network network(settings, profile(http),
                  with({.version = draw.one_in(3) ? Version::tls12 : Version::tls13,
                        .resumption = draw.one_in(2)}));
  ASSERT_TRUE(network.drain(2000 * kSecond));
  const uint64_t dropped = network.count(Side::client, Counter::tcps_conndrops) +
                           network.count(Side::client, Counter::tcps_drops) +
                           network.count(Side::server, Counter::tcps_drops);
  ASSERT_EQ(dropped, 0u);
  expect_whole(network, kRandomFlows, http);
}

INSTANTIATE_TEST_SUITE_P(Netsim, TlsOverALossyWire, ::testing::Range<uint64_t>(1, 25));

TEST(Tls, TakesRecordsThatAreCutAnywhere) {
  const HttpLike http{.request = 300,
                      .response = 2000,
                      .limit = 3,
                      .client_tcp = R"({"mss":10,"no_delay":1})",
                      .server_tcp = R"({"mss":10,"no_delay":1})"};
  Network network({}, profile(http), with({}));
  ASSERT_TRUE(network.drain(100 * kSecond));
  expect_whole(network, 3, http);
}

TEST(Tls, ACompleteHandshakeIsTimedFromTheIntendedStart) {
  Settings settings;
  settings.to_server.delay = settings.to_client.delay = kMillisecond;
  const auto highest = [&settings](Version version, LatencyKind kind) {
    Network network(settings, profile({.response = 1000, .limit = kFlows}),
                    with({.version = version}));
    EXPECT_TRUE(network.drain(20 * kSecond));
    const Histogram& times = network.run(Side::client).latencies().at(0)[kind];
    EXPECT_EQ(times.count(), kFlows);
    return times.highest() / 1000;
  };
  EXPECT_EQ(highest(Version::tls13, LatencyKind::connect), 2u);
  EXPECT_EQ(highest(Version::tls13, LatencyKind::tls_handshake), 4u);
  EXPECT_EQ(highest(Version::tls13, LatencyKind::first_byte), 6u);
  EXPECT_EQ(highest(Version::tls12, LatencyKind::tls_handshake), 6u);
}

TEST(Tls, AServerThatAsksForAnotherGroupCostsARoundTrip) {
  Settings settings;
  settings.to_server.delay = settings.to_client.delay = kMillisecond;
  // The client's key is of its first group: HelloRetryRequest, RFC 8446 section 2.1.
  Network network(settings, profile({.response = 1000, .limit = kFlows}),
                  with({.groups = "X25519:P-384"}), with({.groups = "P-384"}));
  ASSERT_TRUE(network.drain(20 * kSecond));
  EXPECT_EQ(counts(network, Side::client).full, kFlows);
  const LatencyBlock& times = network.run(Side::client).latencies().at(0);
  EXPECT_EQ(times[LatencyKind::tls_handshake].highest() / 1000, 6u);
}

TEST(Tls, TakesTheCiphersThatAreAskedFor) {
  const HttpLike http{.limit = kFlows};
  for (const auto& [version, cipher] :
       {std::pair{Version::tls13, "TLS_AES_128_GCM_SHA256"},
        std::pair{Version::tls13, "TLS_CHACHA20_POLY1305_SHA256"},
        std::pair{Version::tls12, "ECDHE-ECDSA-AES128-GCM-SHA256"},
        std::pair{Version::tls12, "ECDHE-ECDSA-CHACHA20-POLY1305"}}) {
    Network network({}, profile(http), with({.version = version, .ciphers = cipher}));
    ASSERT_TRUE(network.drain(20 * kSecond));
    expect_whole(network, kFlows, http);
  }
  Network apart({}, profile(http),
                with({.version = Version::tls13, .ciphers = "TLS_AES_128_GCM_SHA256"}),
                with({.version = Version::tls13, .ciphers = "TLS_CHACHA20_POLY1305_SHA256"}));
  ASSERT_TRUE(apart.drain(20 * kSecond));
  EXPECT_EQ(counts(apart, Side::server).alerts_sent[kHandshakeFailure], kFlows);
}

TEST(Tls, EndsThatDoNotAgreePartByAnAlert) {
  Network network({}, profile({.limit = kFlows}), with({.version = Version::tls12}),
                  with({.version = Version::tls13}));
  ASSERT_TRUE(network.drain(20 * kSecond));
  EXPECT_EQ(counts(network, Side::server).alerts_sent[kProtocolVersion], kFlows);
  EXPECT_EQ(counts(network, Side::client).alerts_received[kProtocolVersion], kFlows);
  for (const Side side : {Side::client, Side::server}) {
    EXPECT_EQ(counts(network, side).failed, kFlows);
    EXPECT_EQ(counts(network, side).full, 0u);
    EXPECT_EQ(network.status(side).established, 0u);
  }
  EXPECT_EQ(network.run(Side::client).latencies().at(0)[LatencyKind::tls_handshake].count(), 0u);
}

TEST(Tls, AProtocolThatTheServerDoesNotHaveIsRefused) {
  Network network({}, profile({.limit = kFlows}), with({.alpn = "h2"}), with({.alpn = "http/1.1"}));
  ASSERT_TRUE(network.drain(20 * kSecond));
  EXPECT_EQ(counts(network, Side::server).alerts_sent[kNoApplicationProtocol], kFlows);
}

TEST(Tls, ADamagedRecordEndsItsConnectionAndNoOther) {
  Settings settings;
  settings.offloads.checksum = true;  // a device that vouches for what it did not see
  Network network(settings, profile({.response = 100'000, .cps = 10, .limit = kFlows}), with({}));
  uint64_t large = 0;
  network.filter = [&](Seen& seen) {
    if (seen.from == Side::server && seen.packet.payload_length == 1448 && ++large == 40)
      seen.bytes.back() ^= 1;
    return true;
  };
  ASSERT_TRUE(network.drain(20 * kSecond));
  const TlsCounts client = counts(network, Side::client);
  EXPECT_EQ(client.alerts_sent[kBadRecordMac], 1u);
  EXPECT_EQ(client.failed, 1u);
  EXPECT_GE(client.received_bytes, (kFlows - 1) * 100'000u);
  EXPECT_EQ(counts(network, Side::server).full, kFlows);
}

TEST(Tls, APeerThatEndsInTheHandshakeIsCounted) {
  RunOptions plain = with({});
  plain.tls.clear();
  // A client without TLS, which only connects and closes.
  Network network({}, profile({.limit = kFlows, .client_commands = R"({"name":"connect"})"}), plain,
                  with({}));
  ASSERT_TRUE(network.drain(20 * kSecond));
  EXPECT_EQ(counts(network, Side::server).ended, kFlows);
  EXPECT_EQ(counts(network, Side::server).failed, kFlows);
}

TEST(Tls, APeerThatIsNoTlsAtAllIsRefused) {
  RunOptions plain = with({});
  plain.tls.clear();
  Network network({}, profile({.limit = kFlows}), plain, with({}));
  network.run_until(2 * kSecond);
  EXPECT_EQ(counts(network, Side::server).failed, kFlows);
  EXPECT_EQ(counts(network, Side::server).full, 0u);
}

TEST(Tls, WhatIsQueuedWithoutWaitingArrivesInOrder) {
  // Ten responses one behind the other, of which no two are waited for.
  std::string server = R"({"name":"rx","min_bytes":100},{"name":"tx_mode","flags":1})";
  for (int i = 0; i < 10; ++i) server += R"(,{"name":"tx","buf_index":1})";
  const HttpLike http{.response = 30'000,
                      .limit = kFlows,
                      .client_commands = R"({"name":"tx","buf_index":0},)"
                                         R"({"name":"rx","min_bytes":300000})",
                      .server_commands = server};
  Settings settings;
  settings.to_server = settings.to_client = {.loss = 0.02, .reordering = 0.05};
  Network network(settings, profile(http), with({}));
  ASSERT_TRUE(network.drain(100 * kSecond));
  HttpLike whole = http;
  whole.response = 300'000;
  expect_whole(network, kFlows, whole);
}

// 100 handshakes within 20 ms, each 0.6 ms of each end: the ends have work for 120 ms, and are late
// for TLS. A flow without it waits at most for the step that is being taken at either end.
TEST(Tls, ABurstOfHandshakesMakesOtherFlowsWaitForOneStep) {
  constexpr Nanoseconds kStep = 300 * kMicrosecond;
  constexpr uint64_t kBurst = 100;
  const std::string client = R"({"name":"tx","buf_index":3},{"name":"rx","min_bytes":1000})";
  const std::string server = R"({"name":"rx","min_bytes":1000},{"name":"tx","buf_index":3})";
  nlohmann::json encrypted = flow_template(0, 1, 5000, 0);
  encrypted["client_template"]["limit"] = kBurst;
  RunOptions options = with({});
  options.tls.push_back(nullptr);
  Settings settings;
  settings.handshake_step = {kStep, kStep};
  Network network(settings,
                  several({program(client), program(server)},
                          {encrypted, flow_template(0, 1, 1000, 0, {{"port", 81}})}, {}),
                  options);
  network.run_until(500 * kMillisecond);
  const TlsCounts served =
      network.run(Side::server).report().tls.at(0).sides[index_of(Side::server)];
  EXPECT_EQ(served.full, kBurst);
  EXPECT_EQ(served.steps, 2 * kBurst);
  EXPECT_EQ(served.step_time, served.steps * kStep);
  const TlsCounts opened =
      network.run(Side::client).report().tls.at(0).sides[index_of(Side::client)];
  EXPECT_EQ(opened.waiting, 0u);
  EXPECT_GT(opened.most_waiting, kBurst / 4);
  EXPECT_GT(opened.longest_waited, 10 * kStep);
  EXPECT_GE(opened.waited, opened.longest_waited);
  const Nanoseconds pass = 2 * kStep;
  const std::vector<LatencyBlock>& times = network.run(Side::client).latencies();
  EXPECT_GT(times[0][LatencyKind::tls_handshake].highest(), 20u * kStep / kMicrosecond);
  // Four passes of the ends: the start, SYN, SYN-ACK; then the request, and the response.
  EXPECT_GT(times[1][LatencyKind::connect].count(), 300u);
  EXPECT_LE(times[1][LatencyKind::connect].highest(), (3 * pass + 2 * kDelay) / kMicrosecond);
  EXPECT_LE(times[1][LatencyKind::completion].highest(), (5 * pass + 4 * kDelay) / kMicrosecond);
  EXPECT_EQ(network.status(Side::client).late, 0u);
}

/// Bytes of one of the engine's pools that are in use.
uint64_t in_use(Network& network, Side side, std::string_view name) {
  for (const PoolStatus& pool : network.core(side).memory())
    if (pool.name == name) return pool.object_bytes * pool.in_use;
  return 0;
}

// In TLS 1.3 the library has nothing of an idle connection, in 1.2 its own connection. The
// servers have closed, where a client may stay open then (1.3): of their last record nothing stays
// either.
TEST(Tls, MemoryOfOpenConnectionsIsToldAndGivenBack) {
  constexpr uint64_t kOpen = 200;
  HttpLike http{.response = 1000,
                .cps = 1000,
                .limit = kOpen,
                .client_commands = R"({"name":"tx","buf_index":0},)"
                                   R"({"name":"rx","min_bytes":1000},)"
                                   R"({"name":"delay","usec":2000000})",
                .server_commands = R"({"name":"rx","min_bytes":100},)"
                                   R"({"name":"tx","buf_index":1})"};
  struct Expected {
    Version version;
    uint64_t least, most;  // bytes of both ends, which are on this thread
  };
  // The buffers of one end's records alone are 33,000 bytes, 16,700 for each way. Both ends take
  // 30,600 with OpenSSL 3.0 and 45,700 with 3.5, whose objects are larger. That would also choose a
  // group whose keys are some 8,000 bytes, and keeps them.
  constexpr uint64_t kMost = kNewLibrary ? 51'000 : 36'000;
  for (const Expected& each : {Expected{Version::tls13, 0, 0}, {Version::tls12, 10'000, kMost}}) {
    if (each.version == Version::tls12)
      http.server_commands += R"(,{"name":"delay","usec":2000000})";
    Network network({}, profile(http), with({.version = each.version, .groups = "X25519:P-256"}));
    const uint64_t before = in_use(network, Side::client, "TLS library");
    network.run_until(kSecond);
    ASSERT_EQ(network.status(Side::client).client_flows, kOpen);
    for (const Side side : {Side::client, Side::server}) {
      EXPECT_EQ(in_use(network, side, "TLS session"), kOpen * sizeof(tls::TlsConnection));
      EXPECT_EQ(in_use(network, side, "TLS bytes received"), 0u);
    }
    const uint64_t open = in_use(network, Side::client, "TLS library") - before;
    const uint64_t once = 50'000;  // of both contexts
    EXPECT_GE(open, kOpen * each.least);
    EXPECT_LE(open, kOpen * each.most + once);
    ASSERT_TRUE(network.drain(20 * kSecond));
    EXPECT_LT(in_use(network, Side::client, "TLS library"), before + once);
  }
}

TEST(Tls, ARunCanBeCutInTheMiddleOfItsConnections) {
  Network network({}, profile({.response = 1'000'000, .cps = 100}), with({}));
  network.run_until(200 * kMillisecond);
  EXPECT_GT(network.status(Side::client).client_flows, 0u);
  network.close(Side::client);
  network.close(Side::server);
  EXPECT_EQ(network.status(Side::client).client_flows, 0u);
}

}  // namespace
}  // namespace engine::netsim
