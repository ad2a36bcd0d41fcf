// TLS against a peer that says what the engine never does: key updates, chains of certificates,
// renegotiation, early data, in segments as short as a byte.

#include <gtest/gtest.h>

#include <set>
#include <sstream>

#include "netsim/tls_pair.h"

namespace engine::netsim {
namespace {

using tls::Version;

constexpr int kNoRenegotiation = 100;  // RFC 5246 section 7.2

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
