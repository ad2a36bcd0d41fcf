#pragma once
// What the TLS of a template is to be like.

#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>

namespace engine::tls {

/// Options that the library does not take, in words.
struct OptionsError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

enum class Version : uint8_t { both, tls12, tls13 };  ///< `both`: 1.3 where the peer has it
enum class CertificateKind : uint8_t { p256, rsa2048 };

/// A server's key and its certificate, which it has signed itself.
class Identity;
/// Makes one with a key of its own. `name`: common name, and the only alternative name. It takes up
/// to a second (RSA); its randomness and the time of its validity are the library's own.
std::shared_ptr<const Identity> make_identity(CertificateKind kind, const std::string& name);

/// The library's words for an alert by its number.
std::string alert_name(uint8_t alert);

struct Options {
  Version version = Version::both;
  /// Key exchange groups by the library's names ("X25519", "P-256"), the most wanted first, with
  /// colons between; empty: the library's own choice.
  std::string groups{};
  /// Cipher suites by the library's names, with colons between; empty: its own choice.
  std::string ciphers{};
  bool resumption = false;    ///< by tickets: RFC 8446 section 2.2, RFC 5077
  std::string server_name{};  ///< in the client's SNI; empty: none
  std::string alpn{};         ///< the one protocol that is offered and taken; empty: none
  bool key_log = false;       ///< secrets of connections are kept, for whoever takes them
  std::shared_ptr<const Identity> identity{};  ///< the server's
};

}  // namespace engine::tls
