#pragma once
// Protected records of TLS 1.3 after the handshake (RFC 8446 section 5.2), by the library's ciphers
// and hashes. The library's own connection takes 14 to 17 KB for this, as long as it is open.

#include <openssl/evp.h>
#include <openssl/ssl.h>

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "base/raw_bytes.h"
#include "base/side.h"
#include "tls/identity.h"

namespace engine::tls {

enum class Suite : uint8_t { none, aes128_gcm, aes256_gcm, chacha20 };

/// What protects the records of one direction, RFC 8446 section 7.3.
struct TrafficKeys {
  static constexpr size_t kLongestSecret = 48;  ///< of SHA-384
  static constexpr size_t kLongestKey = 32;
  static constexpr size_t kNonce = 12;

  std::array<uint8_t, kLongestSecret> secret{};
  std::array<uint8_t, kLongestKey> key{};
  std::array<uint8_t, kNonce> nonce{};
  uint64_t sequence = 0;  ///< of the next record
  uint64_t number = 0;    ///< no two keys of a core have the same
};

/// Both directions of one connection.
struct Protection {
  Suite suite = Suite::none;  ///< none: its records are the library's
  TrafficKeys received;
  TrafficKeys sent;
  std::array<uint8_t, 5> message{};  ///< the beginning of a handshake message, whole if it is short
  uint8_t message_bytes = 0;         ///< ... that are known
  uint32_t ignored = 0;              ///< bytes to come of a ticket

  /// A line of the library's key log: it may be one of both secrets.
  void take_secret(Side own, std::string_view line);
};

/// The suite that a connection of TLS 1.3 has agreed on; `none` if it is not one of those above.
Suite suite_of(const SSL* ssl);

/// Of one core.
class Records {
 public:
  static constexpr size_t kHeader = 5;
  static constexpr size_t kLongest = 16384;             ///< payload bytes, section 5.1
  static constexpr size_t kLongestCoded = 16384 + 256;  ///< without header, section 5.2
  enum Type : uint8_t { kAlert = 21, kHandshake = 22, kApplication = 23 };

  /// What a record says. `alert`: it is not acceptable; else SSL_AD_CLOSE_NOTIFY, which is none.
  struct Opened {
    uint8_t alert = SSL_AD_CLOSE_NOTIFY;
    uint8_t type = 0;
    std::span<const uint8_t> content{};  ///< valid until the next record
  };

  Records();

  /// Both secrets are known.
  void begin(Protection& protection, Suite suite);
  /// Appends a record to `output`. `content`: kLongest bytes at most.
  void seal(Protection& protection, Type type, std::span<const uint8_t> content, RawBytes& output);
  /// `record`: a whole one, with its header.
  Opened open(Protection& protection, std::span<const uint8_t> record);
  /// Takes handshake messages in the content of a record: tickets, which nobody wants, and key
  /// updates, which may append an answer to `output` unless this is nullptr. Returns as `alert`.
  uint8_t take_messages(Protection& protection, Side own, std::span<const uint8_t> content,
                        RawBytes* output);

 private:
  struct Cipher {
    std::unique_ptr<EVP_CIPHER_CTX, Freeing<EVP_CIPHER_CTX_free>> context;
    uint64_t loaded = 0;  ///< number of the keys
  };
  void derive(Suite suite, TrafficKeys& keys);
  void update(Suite suite, TrafficKeys& keys);
  /// HKDF-Expand-Label without a context, section 7.1: no longer than the hash.
  void expand(Suite suite, std::span<const uint8_t> secret, std::string_view label,
              std::span<uint8_t> into);
  EVP_CIPHER_CTX* load(Suite suite, TrafficKeys& keys, bool encrypt);

  std::array<std::array<Cipher, 2>, 4> ciphers_;  ///< by suite and `encrypt`
  std::array<std::unique_ptr<EVP_MAC_CTX, Freeing<EVP_MAC_CTX_free>>, 2> hmacs_;  ///< SHA-256, -384
  uint64_t numbers_ = 0;                                                          ///< given to keys
  std::array<uint8_t, kLongestCoded> plaintext_;
};

}  // namespace engine::tls
