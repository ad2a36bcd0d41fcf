// What a peer must not say after a handshake of TLS 1.3, after the ideas of tlsfuzzer and
// TLS-Anvil, each with its alert. The peer's next bytes are replaced by those of the table.

#include "netsim/tls_peer_keys.h"

namespace engine::netsim {
namespace {

using tls::Version;

struct Refused {
  const char* name;
  int alert;
  std::function<Bytes(PeerKeys&)> bytes;
};

const Bytes kKeyUpdate{24, 0, 0, 1, 0};

// RFC 8446 sections 5 and 6, and 4.6 of what may follow a handshake.
const Refused kProtected[] = {
    {"DamagedTag", SSL_AD_BAD_RECORD_MAC,
     [](PeerKeys& peer) {
       Bytes record = peer.seal(23, {'x'});
       record.back() ^= 1;
       return record;
     }},
    {"DamagedHeader", SSL_AD_BAD_RECORD_MAC,
     [](PeerKeys& peer) {
       Bytes record = peer.seal(23, {'x'});
       record[2] ^= 1;
       return record;
     }},
    {"ShorterThanATag", SSL_AD_BAD_RECORD_MAC,
     [](PeerKeys&) { return Bytes{23, 3, 3, 0, 3, 1, 2, 3}; }},
    {"NothingInARecord", SSL_AD_BAD_RECORD_MAC,
     [](PeerKeys&) {
       return Bytes{23, 3, 3, 0, 0};
     }},
    {"ARecordAgain", SSL_AD_BAD_RECORD_MAC,
     [](PeerKeys& peer) {
       const Bytes record = peer.seal(22, kKeyUpdate);
       return record + record;
     }},
    {"LongerThanARecord", SSL_AD_RECORD_OVERFLOW,
     [](PeerKeys&) {
       return Bytes{23, 3, 3, 0x41, 1};
     }},
    {"TooMuchContent", SSL_AD_RECORD_OVERFLOW,
     [](PeerKeys& peer) { return peer.seal(23, Bytes(16385, 'x')); }},
    {"TooMuchPadding", SSL_AD_RECORD_OVERFLOW,
     [](PeerKeys& peer) { return peer.seal(0, Bytes(16000, 'x') + Bytes{23} + Bytes(384, 0)); }},
    {"ChangeCipherSpec", SSL_AD_UNEXPECTED_MESSAGE,
     [](PeerKeys&) { return Bytes{20, 3, 3, 0, 1, 1}; }},
    {"PlainAlert", SSL_AD_UNEXPECTED_MESSAGE,
     [](PeerKeys&) { return Bytes{21, 3, 3, 0, 2, 2, 40}; }},
    {"PlainHandshake", SSL_AD_UNEXPECTED_MESSAGE,
     [](PeerKeys&) { return Bytes{22, 3, 3, 0, 4, 14, 0, 0, 0}; }},
    {"NoType", SSL_AD_UNEXPECTED_MESSAGE,
     [](PeerKeys& peer) {
       return peer.seal(0, {0, 0, 0});
     }},
    {"ProtectedChangeCipherSpec", SSL_AD_UNEXPECTED_MESSAGE,
     [](PeerKeys& peer) { return peer.seal(20, {1}); }},
    {"UnknownType", SSL_AD_UNEXPECTED_MESSAGE, [](PeerKeys& peer) { return peer.seal(99, {1}); }},
    {"EmptyHandshake", SSL_AD_UNEXPECTED_MESSAGE, [](PeerKeys& peer) { return peer.seal(22, {}); }},
    {"PayloadWithinAMessage", SSL_AD_UNEXPECTED_MESSAGE,
     [](PeerKeys& peer) {
       const Bytes beginning = peer.seal(22, {24, 0, 0});
       return beginning + peer.seal(23, {'x'});
     }},
    {"ClientHello", SSL_AD_UNEXPECTED_MESSAGE,
     [](PeerKeys& peer) {
       return peer.seal(22, {1, 0, 0, 2, 3, 3});
     }},
    {"ASecondFinished", SSL_AD_UNEXPECTED_MESSAGE,
     [](PeerKeys& peer) {
       return peer.seal(22, Bytes{20, 0, 0, 48} + Bytes(48, 0));
     }},
    {"UnaskedCertificateRequest", SSL_AD_UNEXPECTED_MESSAGE,
     [](PeerKeys& peer) {
       return peer.seal(22, {13, 0, 0, 3, 0, 0, 0});
     }},
    {"BytesBehindAKeyUpdate", SSL_AD_UNEXPECTED_MESSAGE,
     [](PeerKeys& peer) { return peer.seal(22, kKeyUpdate + Bytes{24}); }},
    {"UnknownKeyUpdate", SSL_AD_ILLEGAL_PARAMETER,
     [](PeerKeys& peer) {
       return peer.seal(22, {24, 0, 0, 1, 2});
     }},
    {"LongKeyUpdate", SSL_AD_DECODE_ERROR,
     [](PeerKeys& peer) {
       return peer.seal(22, {24, 0, 0, 2, 0, 0});
     }},
    {"EmptyKeyUpdate", SSL_AD_DECODE_ERROR,
     [](PeerKeys& peer) {
       return peer.seal(22, {24, 0, 0, 0});
     }},
    {"EmptyAlert", SSL_AD_UNEXPECTED_MESSAGE, [](PeerKeys& peer) { return peer.seal(21, {}); }},
    {"HalfAnAlert", SSL_AD_DECODE_ERROR, [](PeerKeys& peer) { return peer.seal(21, {2}); }},
    {"TwoAlerts", SSL_AD_DECODE_ERROR,
     [](PeerKeys& peer) {
       return peer.seal(21, {1, 90, 1, 90});
     }},
};

/// Puts bytes in the place of a first request or response.
void say(Pair& pair, PeerKeys& keys, const std::function<Bytes(PeerKeys&)>& bytes) {
  if (pair.engine_side == Side::client) SSL_CTX_set_num_tickets(pair.context.get(), 0);
  bool said = false;
  pair.peer.act = [&] {
    if (said) return;
    said = true;
    keys.begin(pair.peer.ssl(), false);
    pair.peer.flush();
    pair.peer.change = [&](Bytes& out) {
      out = bytes(keys);
      pair.peer.change = [](Bytes&) {};
    };
    pair.peer.write("x");
  };
  if (pair.engine_side == Side::server) pair.peer.connect();
  pair.network.run_until(pair.network.now() + 2 * kSecond);
  EXPECT_TRUE(said);
}

class TlsRefused : public ::testing::TestWithParam<std::tuple<Side, Refused>> {};

TEST_P(TlsRefused, AfterAHandshake) {
  const auto& [side, refused] = GetParam();
  Pair pair(side, {.version = Version::tls13});
  PeerKeys keys(pair);
  say(pair, keys, refused.bytes);
  EXPECT_EQ(pair.peer.alerts, std::vector<int>{refused.alert});
  EXPECT_EQ(pair.counts().alerts_sent[static_cast<size_t>(refused.alert)], 1u);
  EXPECT_EQ(pair.counts().failed, 1u);
  EXPECT_EQ(pair.counts().received_bytes, 0u);
}

TEST_P(TlsRefused, InSegmentsOfAByte) {
  const auto& [side, refused] = GetParam();
  Pair pair(side, {.version = Version::tls13});
  pair.peer.segment = 1;
  PeerKeys keys(pair);
  say(pair, keys, refused.bytes);
  EXPECT_EQ(pair.peer.alerts, std::vector<int>{refused.alert});
  EXPECT_EQ(pair.counts().alerts_sent[static_cast<size_t>(refused.alert)], 1u);
}

INSTANTIATE_TEST_SUITE_P(Netsim, TlsRefused,
                         ::testing::Combine(::testing::Values(Side::client, Side::server),
                                            ::testing::ValuesIn(kProtected)),
                         [](const auto& info) {
                           return std::string(std::get<1>(info.param).name) +
                                  (std::get<0>(info.param) == Side::client ? "Client" : "Server");
                         });

class TlsAccepted : public ::testing::TestWithParam<Side> {};

TEST_P(TlsAccepted, PaddingEmptyRecordsAndMessagesInParts) {
  Pair pair(GetParam(), {.version = Version::tls13});
  PeerKeys keys(pair);
  say(pair, keys, [](PeerKeys& peer) {
    Bytes bytes = peer.seal(0, {'x', 23, 0, 0, 0});
    bytes = bytes + peer.seal(23, {});
    bytes = bytes + peer.seal(21, {1, 90});
    for (const uint8_t byte : kKeyUpdate) bytes = bytes + peer.seal(22, {byte});
    return bytes;
  });
  EXPECT_EQ(pair.counts().failed, 0u);
  EXPECT_EQ(pair.counts().received_bytes, 1u);
  EXPECT_EQ(pair.counts().alerts_received[SSL_AD_USER_CANCELLED], 1u);
}

TEST_P(TlsAccepted, AnErrorOfThePeersEndsTheConnectionWithoutAnAnswer) {
  for (const uint8_t level : {1, 2}) {  // RFC 8446 section 6: whatever the level
    Pair pair(GetParam(), {.version = Version::tls13});
    PeerKeys keys(pair);
    say(pair, keys, [level](PeerKeys& peer) { return peer.seal(21, {level, 200}); });
    EXPECT_EQ(pair.counts().failed, 1u);
    EXPECT_EQ(pair.counts().alerts_received[200], 1u);
    EXPECT_EQ(pair.peer.alerts, std::vector<int>{});
  }
}

INSTANTIATE_TEST_SUITE_P(Netsim, TlsAccepted, ::testing::Values(Side::client, Side::server));

}  // namespace
}  // namespace engine::netsim
