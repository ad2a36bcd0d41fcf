// What a peer of either version asks for beside the handshake itself: other tickets, shorter
// records, the end, a protocol.

#include "netsim/tls_pair.h"

namespace engine::netsim {
namespace {

using tls::Version;

/// Clients one after the other, each with a request.
std::string in_turn(uint64_t clients) {
  return profile({.request = kRequest, .response = kResponse, .cps = 10, .limit = clients});
}

/// A server that gives a client another ticket each time, or only if it has none.
template <int kOutcome>
int choose_ticket_key(SSL*, unsigned char* name, unsigned char* iv, EVP_CIPHER_CTX* cipher,
                      EVP_MAC_CTX* mac, int encrypts) {
  static std::array<unsigned char, 32> key{1};
  if (encrypts == 1) std::fill_n(name, 16, 'k'), std::fill_n(iv, 16, 'i');
  std::array<OSSL_PARAM, 3> parameters{
      OSSL_PARAM_construct_octet_string("key", key.data(), key.size()),
      OSSL_PARAM_construct_utf8_string("digest", const_cast<char*>("sha256"), 0),
      OSSL_PARAM_construct_end()};
  EVP_MAC_CTX_set_params(mac, parameters.data());
  EVP_CipherInit_ex(cipher, EVP_aes_256_cbc(), nullptr, key.data(), iv, encrypts);
  return encrypts == 1 ? 1 : kOutcome;
}

class TlsTickets : public ::testing::TestWithParam<Version> {};

// RFC 5077 section 3.3, RFC 8446 section 4.6.1.
TEST_P(TlsTickets, AreTakenAlsoFromAResumedHandshake) {
  constexpr uint64_t kClients = 40;
  for (const bool renewed : {false, true}) {
    if (!renewed && GetParam() == Version::tls13) continue;  // there a ticket serves once
    Pair pair(Side::server, {.version = GetParam(), .resumption = true}, in_turn(kClients));
    SSL_CTX_set_tlsext_ticket_key_evp_cb(pair.context.get(),
                                         renewed ? choose_ticket_key<2> : choose_ticket_key<1>);
    pair.network.run_until(20 * kSecond);
    EXPECT_EQ(pair.counts().full, 1u) << "renewed: " << renewed;
    EXPECT_EQ(pair.counts().resumed, kClients - 1);
    EXPECT_EQ(pair.counts().received_bytes, kClients * kResponse);
  }
}

INSTANTIATE_TEST_SUITE_P(Netsim, TlsTickets, ::testing::Values(Version::tls12, Version::tls13));

class TlsFragments : public ::testing::TestWithParam<Version> {};

// RFC 6066 section 4.
TEST_P(TlsFragments, AreNoLongerThanTheClientWants) {
  Pair pair(Side::client, {.version = GetParam()});
  SSL_CTX_set_tlsext_max_fragment_length(pair.context.get(), TLSEXT_max_fragment_length_512);
  pair.expect_whole();
  EXPECT_EQ(pair.peer.alerts, std::vector<int>{});
  EXPECT_EQ(pair.counts().sent_records, 2 * ((kResponse + 511) / 512));
}

INSTANTIATE_TEST_SUITE_P(Netsim, TlsFragments, ::testing::Values(Version::tls12, Version::tls13));

class TlsEnd : public ::testing::TestWithParam<Version> {};

// RFC 5246 section 7.2.1: what was still to be sent is not. RFC 8446 section 6.1: it is.
TEST_P(TlsEnd, OfAPeerIsAnsweredInItsVersionsWay) {
  Pair pair(Side::client, {.version = GetParam()});
  bool ended = false;
  pair.peer.act = [&] {
    if (ended || !pair.peer.received.empty()) return;
    ended = true;
    SSL_write(pair.peer.ssl(), std::string(kRequest, 'x').data(), kRequest);
    SSL_shutdown(pair.peer.ssl());
    pair.peer.flush();
  };
  pair.peer.connect();
  pair.network.run_until(pair.network.now() + 2 * kSecond);
  const bool older = GetParam() == Version::tls12;
  EXPECT_EQ(pair.peer.received.size(), older ? 0u : kResponse);
  EXPECT_EQ(pair.counts().failed, 0u);
  const bool answered = (SSL_get_shutdown(pair.peer.ssl()) & SSL_RECEIVED_SHUTDOWN) != 0;
  EXPECT_EQ(answered, older);
}

INSTANTIATE_TEST_SUITE_P(Netsim, TlsEnd, ::testing::Values(Version::tls12, Version::tls13));

TEST(TlsProtocol, ThatTheServerDoesNotChooseIsAFailure) {
  Pair pair(Side::server, {.alpn = "http/1.1"});
  pair.network.run_until(2 * kSecond);
  EXPECT_EQ(pair.counts().failed, 1u);
  EXPECT_EQ(pair.counts().without_protocol, 1u);
  EXPECT_EQ(pair.counts().full, 0u);
  EXPECT_EQ(pair.peer.received.size(), 0u);
}

TEST(TlsProtocol, ThatIsNotTlsIsTold) {
  Pair pair(Side::server);
  pair.peer.change = [](std::vector<uint8_t>& bytes) {
    const std::string_view answer = "HTTP/1.1 400 Bad Request\r\n\r\n";
    bytes.assign(answer.begin(), answer.end());
  };
  pair.network.run_until(2 * kSecond);
  EXPECT_EQ(pair.counts().failed, 1u);
  EXPECT_EQ(pair.counts().not_tls, 1u);
}

}  // namespace
}  // namespace engine::netsim
