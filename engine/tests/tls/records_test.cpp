#include "tls/records.h"

#include <gtest/gtest.h>

#include <numeric>
#include <string>

namespace engine::tls {
namespace {

using Bytes = RawBytes;

Bytes from_hex(const std::string& digits) {
  Bytes bytes;
  for (size_t i = 0; i + 1 < digits.size(); i += 2)
    bytes.push_back(static_cast<uint8_t>(std::stoi(digits.substr(i, 2), nullptr, 16)));
  return bytes;
}

constexpr const char* kClientSecret =
    "9e40646ce79a7f9dc05af8889bce6552875afa0b06df0087f792ebb7c17504a5";
constexpr const char* kServerSecret =
    "a11af9f05531f856ad47116b45a950328204b4f44bfb6b3a4b4f1f3fcb631643";

Protection protection(Side own, Suite suite, Records& records) {
  Protection made;
  made.take_secret(own, std::string("CLIENT_TRAFFIC_SECRET_0 00 ") + kClientSecret);
  made.take_secret(own, std::string("SERVER_TRAFFIC_SECRET_0 00 ") + kServerSecret);
  records.begin(made, suite);
  return made;
}

// RFC 8448 section 3: the keys, and the client's record with 50 bytes of payload.
TEST(Records, AreThoseOfThePublishedTrace) {
  Records records;
  Protection client = protection(Side::client, Suite::aes128_gcm, records);
  const auto key = std::span(client.received.key).first(16);
  EXPECT_EQ(Bytes(key.begin(), key.end()), from_hex("9f02283b6c9c07efc26bb9f2ac92e356"));
  EXPECT_EQ(Bytes(client.received.nonce.begin(), client.received.nonce.end()),
            from_hex("cf782b88dd83549aadf1e984"));
  Bytes payload(50), record;
  std::iota(payload.begin(), payload.end(), uint8_t{0});
  records.seal(client, Records::kApplication, payload, record);
  EXPECT_EQ(record, from_hex("1703030043a23f7054b62c94d0affafe8228ba55cbefacea42f914aa66bcab3f2b98"
                             "19a8a5b46b395bd54a9a20441e2b62974e1f5a6292a2977014bd1e3deae63aeebb21"
                             "694915e4"));
}

TEST(Records, OfSeveralConnectionsInTurnAreOpened) {
  for (const Suite suite : {Suite::aes128_gcm, Suite::aes256_gcm, Suite::chacha20}) {
    Records records;
    Protection clients[2], servers[2];
    for (int i = 0; i < 2; ++i) {
      clients[i] = protection(Side::client, suite, records);
      servers[i] = protection(Side::server, suite, records);
      // Two connections never have the same secret.
      clients[i].sent.secret[0] = servers[i].received.secret[0] = static_cast<uint8_t>(i);
      records.begin(clients[i], suite);
      records.begin(servers[i], suite);
    }
    for (size_t length : {size_t{0}, size_t{1}, size_t{5000}, Records::kLongest})
      for (int i = 0; i < 2; ++i) {
        const Bytes payload(length, static_cast<uint8_t>('a' + i));
        Bytes record;
        records.seal(clients[i], Records::kApplication, payload, record);
        const Records::Opened opened = records.open(servers[i], record);
        EXPECT_EQ(opened.alert, SSL_AD_CLOSE_NOTIFY);
        EXPECT_EQ(opened.type, Records::kApplication);
        EXPECT_EQ(Bytes(opened.content.begin(), opened.content.end()), payload);
        record.back() ^= 1;
        EXPECT_EQ(records.open(servers[i], record).alert, SSL_AD_BAD_RECORD_MAC);
        --servers[i].received.sequence;
      }
  }
}

}  // namespace
}  // namespace engine::tls
