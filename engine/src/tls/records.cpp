#include "tls/records.h"

#include <openssl/core_names.h>
#include <openssl/params.h>

#include <algorithm>
#include <charconv>
#include <string_view>

#include "base/byte_order.h"

namespace engine::tls {

namespace {

constexpr size_t kTag = 16;
constexpr uint8_t kNoAlert = SSL_AD_CLOSE_NOTIFY;
constexpr uint16_t kLegacyVersion = 0x0303;  // RFC 8446 section 5.2
constexpr size_t kMessageHead = 4;
constexpr uint8_t kNewSessionTicket = 4;
constexpr uint8_t kKeyUpdate = 24;

struct Sizes {
  size_t secret, key;
};

Sizes sizes_of(Suite suite) {
  switch (suite) {
    case Suite::aes128_gcm:
      return {32, 16};
    case Suite::aes256_gcm:
      return {48, 32};
    default:
      return {32, 32};
  }
}

std::unique_ptr<EVP_MAC_CTX, Freeing<EVP_MAC_CTX_free>> make_hmac(const char* digest) {
  const std::unique_ptr<EVP_MAC, Freeing<EVP_MAC_free>> hmac(
      EVP_MAC_fetch(nullptr, "HMAC", nullptr));
  std::unique_ptr<EVP_MAC_CTX, Freeing<EVP_MAC_CTX_free>> made(EVP_MAC_CTX_new(hmac.get()));
  const std::array<OSSL_PARAM, 2> named{
      OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_DIGEST, const_cast<char*>(digest), 0),
      OSSL_PARAM_construct_end()};
  if (made == nullptr || EVP_MAC_CTX_set_params(made.get(), named.data()) != 1)
    throw OptionsError("the TLS library has no HMAC");
  return made;
}

}  // namespace

Suite suite_of(const SSL* ssl) {
  if (SSL_version(ssl) != TLS1_3_VERSION) return Suite::none;
  switch (SSL_CIPHER_get_id(SSL_get_current_cipher(ssl))) {
    case TLS1_3_CK_AES_128_GCM_SHA256:
      return Suite::aes128_gcm;
    case TLS1_3_CK_AES_256_GCM_SHA384:
      return Suite::aes256_gcm;
    case TLS1_3_CK_CHACHA20_POLY1305_SHA256:
      return Suite::chacha20;
    default:
      return Suite::none;
  }
}

// Label, the client's random number and the secret, the last two as hexadecimal digits.
void Protection::take_secret(Side own, std::string_view line) {
  const bool of_client = line.starts_with("CLIENT_TRAFFIC_SECRET_0 ");
  if (!of_client && !line.starts_with("SERVER_TRAFFIC_SECRET_0 ")) return;
  TrafficKeys& keys = of_client == (own == Side::client) ? sent : received;
  const std::string_view digits = line.substr(line.rfind(' ') + 1);
  for (size_t i = 0; i < std::min(digits.size() / 2, keys.secret.size()); ++i)
    std::from_chars(&digits[2 * i], &digits[2 * i] + 2, keys.secret[i], 16);
}

Records::Records() : hmacs_{make_hmac("SHA256"), make_hmac("SHA384")} {
  const std::array<const EVP_CIPHER*, 4> kinds{nullptr, EVP_aes_128_gcm(), EVP_aes_256_gcm(),
                                               EVP_chacha20_poly1305()};
  for (size_t suite = 1; suite < kinds.size(); ++suite)
    for (const int encrypt : {0, 1}) {
      Cipher& cipher = ciphers_[suite][encrypt];
      cipher.context.reset(EVP_CIPHER_CTX_new());
      EVP_CipherInit_ex(cipher.context.get(), kinds[suite], nullptr, nullptr, nullptr, encrypt);
    }
}

void Records::begin(Protection& protection, Suite suite) {
  protection.suite = suite;
  protection.message_bytes = 0;
  protection.ignored = 0;
  derive(suite, protection.received);
  derive(suite, protection.sent);
}

void Records::derive(Suite suite, TrafficKeys& keys) {
  const Sizes sizes = sizes_of(suite);
  const auto secret = std::span(keys.secret).first(sizes.secret);
  expand(suite, secret, "key", std::span(keys.key).first(sizes.key));
  expand(suite, secret, "iv", keys.nonce);
  keys.sequence = 0;
  keys.number = ++numbers_;
}

// RFC 8446 section 7.2.
void Records::update(Suite suite, TrafficKeys& keys) {
  std::array<uint8_t, TrafficKeys::kLongestSecret> next;
  const auto secret = std::span(keys.secret).first(sizes_of(suite).secret);
  expand(suite, secret, "traffic upd", std::span(next).first(secret.size()));
  std::copy_n(next.begin(), secret.size(), secret.begin());
  derive(suite, keys);
}

void Records::expand(Suite suite, std::span<const uint8_t> secret, std::string_view label,
                     std::span<uint8_t> into) {
  constexpr std::string_view kPrefix = "tls13 ";
  const std::array<uint8_t, 3> sizes{0, static_cast<uint8_t>(into.size()),
                                     static_cast<uint8_t>(kPrefix.size() + label.size())};
  // An empty context, then the first block of HKDF-Expand, RFC 5869 section 2.3.
  constexpr std::array<uint8_t, 2> kContextAndBlock{0, 1};
  std::array<uint8_t, EVP_MAX_MD_SIZE> block;
  size_t length = 0;
  EVP_MAC_CTX* const hmac = hmacs_[suite == Suite::aes256_gcm ? 1 : 0].get();
  EVP_MAC_init(hmac, secret.data(), secret.size(), nullptr);
  EVP_MAC_update(hmac, sizes.data(), sizes.size());
  for (const std::string_view part : {kPrefix, label})
    EVP_MAC_update(hmac, reinterpret_cast<const uint8_t*>(part.data()), part.size());
  EVP_MAC_update(hmac, kContextAndBlock.data(), kContextAndBlock.size());
  EVP_MAC_final(hmac, block.data(), &length, block.size());
  std::copy_n(block.begin(), into.size(), into.begin());
}

/// The context with keys, and the nonce of the next record (section 5.3).
EVP_CIPHER_CTX* Records::load(Suite suite, TrafficKeys& keys, bool encrypt) {
  Cipher& cipher = ciphers_[static_cast<size_t>(suite)][encrypt ? 1 : 0];
  std::array<uint8_t, TrafficKeys::kNonce> nonce = keys.nonce;
  std::array<uint8_t, sizeof(uint64_t)> sequence;
  store_be<uint64_t>(sequence.data(), keys.sequence++);
  for (size_t i = 0; i < sequence.size(); ++i)
    nonce[nonce.size() - sequence.size() + i] ^= sequence[i];
  const uint8_t* const key = cipher.loaded == keys.number ? nullptr : keys.key.data();
  EVP_CipherInit_ex(cipher.context.get(), nullptr, nullptr, key, nonce.data(), encrypt ? 1 : 0);
  cipher.loaded = keys.number;
  return cipher.context.get();
}

void Records::seal(Protection& protection, Type type, std::span<const uint8_t> content,
                   RawBytes& output) {
  const size_t coded = content.size() + 1 + kTag;
  const size_t start = output.size();
  output.resize(start + kHeader + coded);
  uint8_t* const header = &output[start];
  header[0] = kApplication;
  store_be<uint16_t>(header + 1, kLegacyVersion);
  store_be<uint16_t>(header + 3, static_cast<uint16_t>(coded));
  EVP_CIPHER_CTX* const cipher = load(protection.suite, protection.sent, true);
  uint8_t* to = header + kHeader;
  int length = 0;
  EVP_EncryptUpdate(cipher, nullptr, &length, header, kHeader);
  if (!content.empty())
    EVP_EncryptUpdate(cipher, to, &length, content.data(), static_cast<int>(content.size()));
  to += content.size();
  const uint8_t inner = type;
  EVP_EncryptUpdate(cipher, to, &length, &inner, 1);
  ++to;
  EVP_EncryptFinal_ex(cipher, to, &length);
  EVP_CIPHER_CTX_ctrl(cipher, EVP_CTRL_AEAD_GET_TAG, kTag, to);
}

Records::Opened Records::open(Protection& protection, std::span<const uint8_t> record) {
  if (record[0] != kApplication) return {.alert = SSL_AD_UNEXPECTED_MESSAGE};
  const std::span<const uint8_t> coded = record.subspan(kHeader);
  if (coded.size() < kTag) return {.alert = SSL_AD_BAD_RECORD_MAC};
  const size_t size = coded.size() - kTag;
  EVP_CIPHER_CTX* const cipher = load(protection.suite, protection.received, false);
  int length = 0;
  EVP_DecryptUpdate(cipher, nullptr, &length, record.data(), kHeader);
  if (size != 0)
    EVP_DecryptUpdate(cipher, plaintext_.data(), &length, coded.data(), static_cast<int>(size));
  EVP_CIPHER_CTX_ctrl(cipher, EVP_CTRL_AEAD_SET_TAG, kTag,
                      const_cast<uint8_t*>(coded.data() + size));
  if (EVP_DecryptFinal_ex(cipher, plaintext_.data() + size, &length) != 1)
    return {.alert = SSL_AD_BAD_RECORD_MAC};
  // Section 5.4: padding counts, too.
  if (size > kLongest + 1) return {.alert = SSL_AD_RECORD_OVERFLOW};
  // The type stands behind the content, and zeros behind the type.
  std::span<const uint8_t> inner(plaintext_.data(), size);
  while (!inner.empty() && inner.back() == 0) inner = inner.first(inner.size() - 1);
  if (inner.empty()) return {.alert = SSL_AD_UNEXPECTED_MESSAGE};
  const std::span<const uint8_t> content = inner.first(inner.size() - 1);
  // Section 5.1: no other record between the parts of a message, and no part without a byte.
  const bool in_message = protection.message_bytes != 0 || protection.ignored != 0;
  if (inner.back() == kHandshake ? content.empty() : in_message)
    return {.alert = SSL_AD_UNEXPECTED_MESSAGE};
  return {.type = inner.back(), .content = content};
}

uint8_t Records::take_messages(Protection& protection, Side own, std::span<const uint8_t> content,
                               RawBytes* output) {
  while (!content.empty()) {
    if (protection.ignored != 0) {
      const size_t ignored = std::min<size_t>(protection.ignored, content.size());
      protection.ignored -= static_cast<uint32_t>(ignored);
      content = content.subspan(ignored);
      continue;
    }
    std::array<uint8_t, 5>& message = protection.message;
    message[protection.message_bytes++] = content.front();
    content = content.subspan(1);
    const bool ticket = message[0] == kNewSessionTicket && own == Side::client;
    if (!ticket && message[0] != kKeyUpdate) return SSL_AD_UNEXPECTED_MESSAGE;
    if (protection.message_bytes < kMessageHead) continue;
    const uint32_t length = uint32_t{message[1]} << 16 | load_be<uint16_t>(&message[2]);
    if (ticket) {
      protection.ignored = length;
      protection.message_bytes = 0;
      continue;
    }
    if (length != 1) return SSL_AD_DECODE_ERROR;
    if (protection.message_bytes == kMessageHead) continue;
    protection.message_bytes = 0;
    if (message[kMessageHead] > 1) return SSL_AD_ILLEGAL_PARAMETER;
    if (!content.empty()) return SSL_AD_UNEXPECTED_MESSAGE;  // with keys that are old
    update(protection.suite, protection.received);
    if (message[kMessageHead] == 0 || output == nullptr) continue;
    constexpr std::array<uint8_t, 5> kAnswer{kKeyUpdate, 0, 0, 1, 0};
    seal(protection, kHandshake, kAnswer, *output);
    update(protection.suite, protection.sent);
  }
  return kNoAlert;
}

}  // namespace engine::tls
