// What a peer must not say in a handshake, and in TLS 1.2 after it, after the ideas of tlsfuzzer
// and TLS-Anvil, each with its alert. All of it is the library's to refuse. A flight of the peer is
// edited, or replaced from where it is protected.

#include <string_view>

#include "base/byte_order.h"
#include "netsim/tls_peer_keys.h"

namespace engine::netsim {
namespace {

using tls::Version;

enum Content : uint8_t { kChangeCipherSpec = 20, kAlert, kHandshake, kPayload, kHeartbeat };
enum Message : uint8_t { kServerKeyExchange = 12, kServerHelloDone = 14, kClientKeyExchange = 16 };
enum Extension : uint16_t {
  kGroups = 10,
  kSignatures = 13,
  kMasterSecret = 23,
  kVersions = 43,
  kKeyShare = 51,
};
constexpr uint16_t kUnknown = 0x1234;
constexpr size_t kRecordHeader = 5, kMessageHeader = 4;
constexpr size_t kRandom = 11, kSessionId = 43;  // the latter's length, in either hello
constexpr size_t kClientSuites = kSessionId + 33;
constexpr size_t kServerSuite = kSessionId + 33;
#ifdef __x86_64__
constexpr bool kX86 = true;
#else
constexpr bool kX86 = false;
#endif

/// Where the extensions of a hello begin.
uint8_t* extensions(Bytes& hello) {
  uint8_t* at = &hello[kSessionId] + 1 + hello[kSessionId];
  if (hello[kRecordHeader] == 2) return at + 2 + 1 + 2;
  at += 2 + load_be<uint16_t>(at);
  return at + 1 + at[0] + 2;
}

/// An extension of a hello: its type, its length, then what is in it. nullptr: it has none such.
uint8_t* extension(Bytes& hello, Extension type) {
  uint8_t* at = extensions(hello);
  const uint8_t* const end = at + load_be<uint16_t>(at - 2);
  for (; at < end; at += 4 + load_be<uint16_t>(at + 2))
    if (load_be<uint16_t>(at) == type) return at;
  return nullptr;
}

void rename(Bytes& hello, Extension type, uint16_t other) {
  store_be<uint16_t>(extension(hello, type), other);
}

/// Where a record of the flight begins: by its content, and if it is a handshake, its message.
size_t record(const Bytes& flight, uint8_t content, uint8_t message = 0) {
  for (size_t at = 0; at + kRecordHeader < flight.size();
       at += kRecordHeader + load_be<uint16_t>(&flight[at + 3]))
    if (flight[at] == content && (message == 0 || flight[at + kRecordHeader] == message)) return at;
  ADD_FAILURE() << "no such record";
  return 0;
}

/// What is in the message of that record.
uint8_t* content(Bytes& flight, Message message) {
  return &flight[record(flight, kHandshake, message) + kRecordHeader + kMessageHeader];
}

/// The alerts that the engine sent.
std::vector<int> sent(const TlsCounts& counts) {
  std::vector<int> alerts;
  for (size_t alert = 0; alert < counts.alerts_sent.size(); ++alert)
    alerts.insert(alerts.end(), counts.alerts_sent[alert], static_cast<int>(alert));
  return alerts;
}

/// `flight`: which of the peer's, from 1. `groups`: the peer's; nullptr: the library's own.
struct Edited {
  const char* name;
  Side peer;
  Version version;
  int flight;
  int alert;
  std::function<void(Bytes&)> edit;
  const char* groups = nullptr;
};

constexpr Side kByClient = Side::client, kByServer = Side::server;
constexpr Version k12 = Version::tls12, k13 = Version::tls13, kBoth = Version::both;

const Edited kEdited[] = {
    // A client's first flight.
    {"PayloadFirst", kByClient, k13, 1, SSL_AD_UNEXPECTED_MESSAGE,
     [](Bytes& b) { b[0] = kPayload; }},
    {"ChangeCipherSpecFirst", kByClient, k12, 1, SSL_AD_UNEXPECTED_MESSAGE,
     [](Bytes& b) { b = {kChangeCipherSpec, 3, 3, 0, 1, 1}; }},
    {"LongRecord", kByClient, k13, 1, SSL_AD_RECORD_OVERFLOW,
     [](Bytes& b) { store_be<uint16_t>(&b[3], 0x4801); }},
    {"AServersMessage", kByClient, k13, 1, SSL_AD_UNEXPECTED_MESSAGE, [](Bytes& b) { b[5] = 2; }},
    {"LongSessionId", kByClient, k13, 1, SSL_AD_DECODE_ERROR, [](Bytes& b) { b[kSessionId] = 33; }},
    {"OddSuites", kByClient, k13, 1, SSL_AD_DECODE_ERROR, [](Bytes& b) { --b[kClientSuites + 1]; }},
    // RFC 8446 section 4.1.2 asks for illegal_parameter; these are the library's alerts.
    {"Compression", kByClient, k13, 1, kNewLibrary ? SSL_AD_ILLEGAL_PARAMETER : SSL_AD_DECODE_ERROR,
     [](Bytes& b) { ++b[kClientSuites + 2 + load_be<uint16_t>(&b[kClientSuites]) + 1]; }},
    {"NoCommonSuite", kByClient, k13, 1, SSL_AD_HANDSHAKE_FAILURE,
     [](Bytes& b) {
       for (size_t at = 0; at < load_be<uint16_t>(&b[kClientSuites]); at += 2)
         store_be<uint16_t>(&b[kClientSuites + 2 + at], 0x1399);
     }},
    {"NoCommonVersion", kByClient, k13, 1, SSL_AD_PROTOCOL_VERSION,
     [](Bytes& b) {
       uint8_t* const versions = extension(b, kVersions);
       for (size_t at = 0; at < versions[4]; at += 2) store_be<uint16_t>(versions + 5 + at, 0x0305);
     }},
    {"AnOldVersion", kByClient, k13, 1, SSL_AD_PROTOCOL_VERSION,
     [](Bytes& b) { rename(b, kVersions, kUnknown); }},
    {"NoSignatureAlgorithms", kByClient, k13, 1, SSL_AD_MISSING_EXTENSION,
     [](Bytes& b) { rename(b, kSignatures, kUnknown); }},
    {"NoGroups", kByClient, k13, 1, SSL_AD_MISSING_EXTENSION,
     [](Bytes& b) { rename(b, kGroups, kUnknown); }},
    {"NoKeyShare", kByClient, k13, 1, SSL_AD_MISSING_EXTENSION,
     [](Bytes& b) { rename(b, kKeyShare, kUnknown); }},
    {"NoCommonSignature", kByClient, k13, 1, SSL_AD_HANDSHAKE_FAILURE,
     [](Bytes& b) {
       uint8_t* const signatures = extension(b, kSignatures);
       for (size_t at = 0; at < load_be<uint16_t>(signatures + 4); at += 2)
         store_be<uint16_t>(signatures + 6 + at, 0x0f0f);
     }},
    {"TheSameExtensionTwice", kByClient, k13, 1, SSL_AD_ILLEGAL_PARAMETER,
     [](Bytes& b) { rename(b, kMasterSecret, kGroups); }},
    {"LongExtensions", kByClient, k13, 1, SSL_AD_DECODE_ERROR,
     [](Bytes& b) {
       uint8_t* const length = extensions(b) - 2;
       store_be<uint16_t>(length, static_cast<uint16_t>(load_be<uint16_t>(length) + 1));
     }},
    {"AShareOfZeros", kByClient, k13, 1, SSL_AD_ILLEGAL_PARAMETER,
     [](Bytes& b) { std::fill_n(extension(b, kKeyShare) + 10, 32, uint8_t{0}); }, "X25519"},
    {"AShareNotOnTheCurve", kByClient, k13, 1, SSL_AD_ILLEGAL_PARAMETER,
     [](Bytes& b) { extension(b, kKeyShare)[10 + 64] ^= 1; }, "P-256"},
    {"ACompressedPoint", kByClient, k13, 1, SSL_AD_ILLEGAL_PARAMETER,
     [](Bytes& b) { extension(b, kKeyShare)[10] = 2; }, "P-256"},
    {"AShareOfAnUnnamedGroup", kByClient, k13, 1, SSL_AD_ILLEGAL_PARAMETER,
     [](Bytes& b) { store_be<uint16_t>(extension(b, kKeyShare) + 6, 24); }, "X25519"},
    // A client's second flight, of TLS 1.2.
    {"AnEarlyChangeCipherSpec", kByClient, k12, 2, SSL_AD_UNEXPECTED_MESSAGE,
     [](Bytes& b) { b.erase(b.begin(), b.begin() + static_cast<ptrdiff_t>(record(b, 20))); }},
    {"PayloadBeforeFinished", kByClient, k12, 2, SSL_AD_UNEXPECTED_MESSAGE,
     [](Bytes& b) { b[record(b, kHandshake, kClientKeyExchange)] = kPayload; }},
    {"APointNotOnTheCurve", kByClient, k12, 2, SSL_AD_ILLEGAL_PARAMETER,
     [](Bytes& b) { content(b, kClientKeyExchange)[64] ^= 1; }, "P-256"},
    {"AShortPoint", kByClient, k12, 2, SSL_AD_DECODE_ERROR,
     [](Bytes& b) { content(b, kClientKeyExchange)[0] -= 1; }},
    {"ADamagedFinished", kByClient, k12, 2, SSL_AD_BAD_RECORD_MAC, [](Bytes& b) { b.back() ^= 1; }},
    // A server's first flight.
    {"AnotherSessionId", kByServer, k13, 1, SSL_AD_ILLEGAL_PARAMETER,
     [](Bytes& b) { b[kSessionId + 1] ^= 1; }},
    {"ASuiteNotOffered", kByServer, k13, 1, SSL_AD_ILLEGAL_PARAMETER,
     [](Bytes& b) { store_be<uint16_t>(&b[kServerSuite], 0x1399); }},
    {"ChosenCompression", kByServer, k13, 1, SSL_AD_ILLEGAL_PARAMETER,
     [](Bytes& b) { b[kServerSuite + 2] = 1; }},
    {"AVersionNotOffered", kByServer, k13, 1, SSL_AD_ILLEGAL_PARAMETER,
     [](Bytes& b) { store_be<uint16_t>(extension(b, kVersions) + 4, 0x0305); }},
    {"AnOldVersionChosen", kByServer, k13, 1, SSL_AD_PROTOCOL_VERSION,
     [](Bytes& b) { rename(b, kVersions, kUnknown); }},
    {"AGroupNotOffered", kByServer, k13, 1, SSL_AD_ILLEGAL_PARAMETER,
     [](Bytes& b) { store_be<uint16_t>(extension(b, kKeyShare) + 4, 0x0199); }},
    {"AZeroShare", kByServer, k13, 1, SSL_AD_ILLEGAL_PARAMETER,
     [](Bytes& b) { std::fill_n(extension(b, kKeyShare) + 8, 32, uint8_t{0}); }, "X25519"},
    {"NoShareOfItsOwn", kByServer, k13, 1,
     kNewLibrary ? SSL_AD_ILLEGAL_PARAMETER : SSL_AD_MISSING_EXTENSION,
     [](Bytes& b) { rename(b, kKeyShare, kUnknown); }},
    {"ADowngrade", kByServer, kBoth, 1, SSL_AD_ILLEGAL_PARAMETER,  // RFC 8446 section 4.1.3
     [](Bytes& b) {
       constexpr std::string_view kSentinel("DOWNGRD\x01", 8);
       std::copy(kSentinel.begin(), kSentinel.end(), &b[kRandom + 24]);
     }},
    {"ADamagedCertificate", kByServer, k13, 1, SSL_AD_BAD_RECORD_MAC,
     [](Bytes& b) { b.back() ^= 1; }},
    {"ADamagedSignature", kByServer, k12, 1, SSL_AD_DECRYPT_ERROR,
     [](Bytes& b) { content(b, kServerKeyExchange)[10] ^= 1; }},
    {"ACurveNotOffered", kByServer, k12, 1, SSL_AD_ILLEGAL_PARAMETER,
     [](Bytes& b) { store_be<uint16_t>(content(b, kServerKeyExchange) + 1, 0x0199); }},
    {"NoServerKeyExchange", kByServer, k12, 1, SSL_AD_UNEXPECTED_MESSAGE,
     [](Bytes& b) {
       const auto from = b.begin() + static_cast<ptrdiff_t>(record(b, 22, kServerKeyExchange));
       const auto to = b.begin() + static_cast<ptrdiff_t>(record(b, 22, kServerHelloDone));
       b.erase(from, to);
     }},
    // decode_error would be right (RFC 5246 section 7.2.2); this is the library's alert.
    {"SomethingInServerHelloDone", kByServer, k12, 1, SSL_AD_ILLEGAL_PARAMETER,
     [](Bytes& b) {
       const size_t at = record(b, kHandshake, kServerHelloDone);
       b.resize(at);
       b = b + Bytes{kHandshake, 3, 3, 0, 5, kServerHelloDone, 0, 0, 1, 0};
     }},
    // A server's last flight of TLS 1.2, and a record after the handshake.
    {"ADamagedLastFlight", kByServer, k12, 2, SSL_AD_BAD_RECORD_MAC,
     [](Bytes& b) { b.back() ^= 1; }},
    {"ADamagedTag", kByServer, k12, 3, SSL_AD_BAD_RECORD_MAC, [](Bytes& b) { b.back() ^= 1; }},
    {"ADamagedTagOfAClient", kByClient, k12, 3, SSL_AD_BAD_RECORD_MAC,
     [](Bytes& b) { b.back() ^= 1; }},
    {"ALongRecord", kByServer, k12, 3, SSL_AD_RECORD_OVERFLOW,
     [](Bytes& b) { store_be<uint16_t>(&b[3], 0x4801); }},
    // bad_record_mac is right (RFC 5246 section 7.2.2); OpenSSL 3.0 has another alert on x86.
    {"ARecordThatIsShorterThanATag", kByServer, k12, 3,
     kNewLibrary || !kX86 ? SSL_AD_BAD_RECORD_MAC : SSL_AD_INTERNAL_ERROR,
     [](Bytes& b) { b = {kPayload, 3, 3, 0, 3, 1, 2, 3}; }},
    {"AnotherType", kByServer, k12, 3, SSL_AD_BAD_RECORD_MAC, [](Bytes& b) { b[0] = kHeartbeat; }},
};

class TlsEdited : public ::testing::TestWithParam<Edited> {};

TEST_P(TlsEdited, IsRefused) {
  const Edited& edited = GetParam();
  Pair pair(edited.peer, {.version = edited.version});
  if (edited.groups != nullptr) SSL_CTX_set1_groups_list(pair.context.get(), edited.groups);
  if (edited.version == kBoth) SSL_CTX_set_max_proto_version(pair.context.get(), TLS1_2_VERSION);
  int flights = 0;
  pair.peer.change = [&](Bytes& bytes) {
    if (++flights == edited.flight) edited.edit(bytes);
  };
  if (edited.peer == kByClient) pair.peer.connect();
  pair.network.run_until(2 * kSecond);
  const TlsCounts counts = pair.counts();
  EXPECT_EQ(sent(counts), std::vector<int>{edited.alert});
  EXPECT_EQ(counts.failed, 1u);
  EXPECT_EQ(counts.full, edited.flight == 3 ? 1u : 0u);
  EXPECT_EQ(counts.received_bytes, 0u);
}

INSTANTIATE_TEST_SUITE_P(Netsim, TlsEdited, ::testing::ValuesIn(kEdited),
                         [](const auto& info) { return std::string(info.param.name); });

// A server's protected flight of TLS 1.3, replaced by handshake messages.
struct InFlight {
  const char* name;
  int alert;
  Bytes messages;
};

const Bytes kNoExtensions{8, 0, 0, 2, 0, 0};

const InFlight kInFlight[] = {
    {"FinishedFirst", SSL_AD_UNEXPECTED_MESSAGE, Bytes{20, 0, 0, 48} + Bytes(48, 0)},
    {"AnUnaskedExtension", SSL_AD_UNSUPPORTED_EXTENSION, {8, 0, 0, 6, 0, 4, 0, 16, 0, 0}},
    {"AnExtensionOfAnotherMessage", SSL_AD_ILLEGAL_PARAMETER, {8, 0, 0, 6, 0, 4, 0, 51, 0, 0}},
    {"LongExtensions", SSL_AD_DECODE_ERROR, {8, 0, 0, 2, 0, 1}},
    {"NoCertificate", SSL_AD_UNEXPECTED_MESSAGE,
     kNoExtensions + Bytes{20, 0, 0, 48} + Bytes(48, 0)},
    {"AnEmptyCertificate", SSL_AD_DECODE_ERROR, kNoExtensions + Bytes{11, 0, 0, 4, 0, 0, 0, 0}},
    {"ASignatureWithoutACertificate", SSL_AD_UNEXPECTED_MESSAGE,
     kNoExtensions + Bytes{15, 0, 0, 4, 4, 3, 0, 0}},
    {"ACertificateThatIsNone", SSL_AD_BAD_CERTIFICATE,
     kNoExtensions + Bytes{11, 0, 0, 10, 0, 0, 0, 6, 0, 0, 1, 0, 0, 0}},
    {"AServerHelloAgain", SSL_AD_UNEXPECTED_MESSAGE, {2, 0, 0, 2, 3, 3}},
};

class TlsInFlight : public ::testing::TestWithParam<InFlight> {};

TEST_P(TlsInFlight, IsRefused) {
  Pair pair(kByServer, {.version = k13});
  PeerKeys keys(pair);
  pair.peer.change = [&](Bytes& bytes) {
    keys.begin(pair.peer.ssl(), true);
    bytes.resize(record(bytes, kPayload));
    bytes = bytes + keys.seal(kHandshake, GetParam().messages);
    pair.peer.change = [](Bytes&) {};
  };
  pair.network.run_until(2 * kSecond);
  EXPECT_EQ(sent(pair.counts()), std::vector<int>{GetParam().alert});
  EXPECT_EQ(pair.counts().failed, 1u);
  EXPECT_EQ(pair.counts().full, 0u);
}

INSTANTIATE_TEST_SUITE_P(Netsim, TlsInFlight, ::testing::ValuesIn(kInFlight),
                         [](const auto& info) { return std::string(info.param.name); });

TEST(TlsFinished, ThatIsWrongIsADecryptError) {
  Pair pair(kByClient, {.version = k13});
  PeerKeys keys(pair);
  int flights = 0;
  pair.peer.change = [&](Bytes& bytes) {
    if (++flights != 2) return;
    keys.begin(pair.peer.ssl(), true);
    bytes = keys.seal(kHandshake, Bytes{20, 0, 0, 48} + Bytes(48, 0));
  };
  pair.peer.connect();
  pair.network.run_until(2 * kSecond);
  EXPECT_EQ(sent(pair.counts()), std::vector<int>{SSL_AD_DECRYPT_ERROR});
  EXPECT_EQ(pair.counts().full, 0u);
}

}  // namespace
}  // namespace engine::netsim
