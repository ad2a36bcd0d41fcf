// TLS against a peer that says what the engine never does: key updates, chains of certificates,
// renegotiation, early data, in segments as short as a byte.

#include "netsim/tls_peer.h"

#include <gtest/gtest.h>

#include <set>
#include <sstream>

#include "netsim/netsim.h"
#include "tls/options.h"

namespace engine::netsim {
namespace {

using tls::Version;

constexpr size_t kRequest = 100;
constexpr size_t kResponse = 5000;
constexpr int kNoRenegotiation = 100;  // RFC 5246 section 7.2

std::shared_ptr<const tls::Identity> peer_identity() {
  static const auto made = tls::make_identity(tls::CertificateKind::p256, "stackcost.test");
  return made;
}

RunOptions engine_options(tls::Options options) {
  options.identity = peer_identity();
  RunOptions run;
  run.tls = {std::make_shared<const tls::Options>(std::move(options))};
  return run;
}

Settings trusted() {
  Settings settings;
  settings.offloads.checksum = true;
  return settings;
}

/// Clients ask twice over one connection.
std::string twice() {
  return profile({.response = kResponse,
                  .limit = 1,
                  .client_commands = R"({"name":"tx","buf_index":0},)"
                                     R"({"name":"rx","min_bytes":5000,"clear":true},)"
                                     R"({"name":"tx","buf_index":0},)"
                                     R"({"name":"rx","min_bytes":5000})",
                  .server_commands = R"({"name":"rx","min_bytes":100,"clear":true},)"
                                     R"({"name":"tx","buf_index":1},)"
                                     R"({"name":"rx","min_bytes":100,"clear":true},)"
                                     R"({"name":"tx","buf_index":1},{"name":"nc"})"});
}

/// The engine at one side, OpenSSL at the other.
struct Pair {
  explicit Pair(Side peer_side, const tls::Options& options = {})
      : network(trusted(), twice(), engine_options(options)),
        engine_side(other_end(peer_side)),
        context(SSL_CTX_new(peer_side == Side::client ? TLS_client_method() : TLS_server_method())),
        peer(network, peer_side, context.get()) {
    if (peer_side == Side::client) {
      SSL_CTX_set_session_cache_mode(context.get(),
                                     SSL_SESS_CACHE_CLIENT | SSL_SESS_CACHE_NO_INTERNAL);
    } else {
      SSL_CTX_use_certificate(context.get(), peer_identity()->certificate());
      SSL_CTX_use_PrivateKey(context.get(), peer_identity()->key());
    }
    peer.act = [this] { answer(); };
  }

  static Side other_end(Side side) { return side == Side::client ? Side::server : Side::client; }

  /// As a server does: a response to each request. As a client: the next request.
  void answer() {
    const bool client = engine_side == Side::server;
    const size_t each = client ? kResponse : kRequest;
    if (peer.received.size() % each != 0 || (!client && peer.received.empty())) return;
    if (client && peer.received.size() == 2 * each) return;
    if (peer.received.size() == each) between();
    peer.write(std::string(client ? kRequest : kResponse, 'x'));
  }

  TlsCounts counts() { return network.run(engine_side).tls().at(0).sides[index_of(engine_side)]; }

  /// Two requests and two responses.
  void expect_whole() {
    if (engine_side == Side::server) peer.connect();
    network.run_until(network.now() + 2 * kSecond);
    const bool client = engine_side == Side::server;
    EXPECT_FALSE(peer.failed);
    EXPECT_EQ(peer.received.size(), 2 * (client ? kResponse : kRequest));
    EXPECT_EQ(counts().received_bytes, 2 * (client ? kRequest : kResponse));
    EXPECT_EQ(counts().failed, 0u);
    EXPECT_EQ(counts().full + counts().resumed, 1u);
  }

  Network network;
  Side engine_side;
  TlsPeer::Context context;
  TlsPeer peer;
  std::function<void()> between = [] {};  ///< both requests
};

class TlsBothSides : public ::testing::TestWithParam<Side> {};

TEST_P(TlsBothSides, FollowsAKeyUpdateAndAnswersIt) {
  Pair pair(GetParam(), {.version = Version::tls13});
  pair.between = [&] { EXPECT_EQ(SSL_key_update(pair.peer.ssl(), SSL_KEY_UPDATE_REQUESTED), 1); };
  pair.expect_whole();
}

TEST_P(TlsBothSides, TakesRecordsInSegmentsOfAnyLength) {
  for (const Version version : {Version::tls12, Version::tls13})
    for (const size_t length : {1, 3, 7, 100}) {
      Pair pair(GetParam(), {.version = version});
      pair.peer.segment = length;
      pair.expect_whole();
    }
}

TEST_P(TlsBothSides, TakesAnotherGroupThanItsOwnFirst) {
  Pair pair(GetParam(), {.version = Version::tls13, .groups = "P-384:X25519"});
  SSL_CTX_set1_groups_list(pair.context.get(),
                           GetParam() == Side::client ? "P-521:P-384" : "X25519");
  pair.expect_whole();
}

TEST_P(TlsBothSides, TakesTheFramesOfEachVersion) {
  for (const int version : {TLS1_2_VERSION, TLS1_3_VERSION}) {
    Pair pair(GetParam());
    SSL_CTX_set_max_proto_version(pair.context.get(), version);
    pair.expect_whole();
    EXPECT_EQ(SSL_version(pair.peer.ssl()), version);
  }
}

// The peer's own library writes the same file.
TEST_P(TlsBothSides, KeepsTheSecretsThatThePeerHasToo) {
  static std::multiset<std::string> of_peer;
  for (const Version version : {Version::tls12, Version::tls13}) {
    of_peer.clear();
    Pair pair(GetParam(), {.version = version, .key_log = true});
    SSL_CTX_set_keylog_callback(pair.context.get(),
                                [](const SSL*, const char* line) { of_peer.insert(line); });
    pair.expect_whole();
    std::multiset<std::string> kept;
    std::istringstream lines(pair.network.run(pair.engine_side).take_tls_keys());
    for (std::string line; std::getline(lines, line);) kept.insert(line);
    EXPECT_GE(kept.size(), version == Version::tls12 ? 1u : 4u);
    EXPECT_EQ(kept, of_peer);
    EXPECT_EQ(pair.network.run(pair.engine_side).take_tls_keys(), "");
  }
}

TEST_P(TlsBothSides, KeepsNoSecretsUnlessAsked) {
  Pair pair(GetParam());
  pair.expect_whole();
  EXPECT_EQ(pair.network.run(pair.engine_side).take_tls_keys(), "");
}

INSTANTIATE_TEST_SUITE_P(Netsim, TlsBothSides, ::testing::Values(Side::client, Side::server));

TEST(TlsPeers, AChainOfEightKilobytesIsTaken) {
  for (const size_t length : {1, 1400}) {
    Pair pair(Side::server);
    size_t chain = 0;
    while (chain < 8192) {
      X509_up_ref(peer_identity()->certificate());
      ASSERT_EQ(SSL_CTX_add_extra_chain_cert(pair.context.get(), peer_identity()->certificate()),
                1);
      chain += static_cast<size_t>(i2d_X509(peer_identity()->certificate(), nullptr));
    }
    pair.peer.segment = length;
    pair.expect_whole();
  }
}

TEST(TlsPeers, AServerRefusesToRenegotiate) {
  Pair pair(Side::client, {.version = Version::tls12});
  pair.peer.connect();
  pair.network.run_until(kSecond);
  ASSERT_TRUE(pair.peer.established);
  ASSERT_EQ(SSL_renegotiate(pair.peer.ssl()), 1);
  SSL_do_handshake(pair.peer.ssl());
  pair.peer.flush();
  pair.network.run_until(2 * kSecond);
  EXPECT_EQ(pair.peer.alerts, std::vector<int>{kNoRenegotiation});
  EXPECT_EQ(pair.counts().alerts_sent[kNoRenegotiation], 1u);
  EXPECT_EQ(pair.counts().full, 1u);
}

TEST(TlsPeers, AClientRefusesToRenegotiate) {
  Pair pair(Side::server, {.version = Version::tls12});
  pair.between = [&] {
    ASSERT_EQ(SSL_renegotiate(pair.peer.ssl()), 1);
    SSL_do_handshake(pair.peer.ssl());
  };
  pair.network.run_until(2 * kSecond);
  EXPECT_EQ(pair.peer.alerts, std::vector<int>{kNoRenegotiation});
  EXPECT_EQ(pair.counts().full, 1u);
}

TEST(TlsPeers, EarlyDataIsRefusedAndNotDelivered) {
  Pair pair(Side::client, {.version = Version::tls13, .resumption = true});
  pair.expect_whole();
  ASSERT_NE(pair.peer.ticket(), nullptr);
  // The ticket allows none; the peer sends it all the same.
  std::unique_ptr<SSL_SESSION, tls::Freeing<SSL_SESSION_free>> ticket(
      SSL_SESSION_dup(pair.peer.ticket()));
  SSL_SESSION_set_max_early_data(ticket.get(), 1000);
  const std::string early(500, 'e');
  pair.peer.connect();
  SSL_set_session(pair.peer.ssl(), ticket.get());
  size_t written = 0;
  ASSERT_EQ(SSL_write_early_data(pair.peer.ssl(), early.data(), early.size(), &written), 1);
  pair.network.run_until(pair.network.now() + kSecond);
  EXPECT_TRUE(pair.peer.established);
  EXPECT_EQ(SSL_get_early_data_status(pair.peer.ssl()), SSL_EARLY_DATA_REJECTED);
  EXPECT_EQ(pair.counts().resumed, 1u);
  EXPECT_EQ(pair.peer.received.size(), 2 * kResponse);
  EXPECT_EQ(pair.counts().received_bytes, 4 * kRequest);
}

}  // namespace
}  // namespace engine::netsim
