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

/// RFC 1035 section 2.3.4, without the length bytes.
inline constexpr size_t kLongestHostName = 253;
/// Throws OptionsError unless `name` is one that SNI may have (RFC 6066 section 3): a DNS name, no
/// address.
void check_host_name(const std::string& name);

/// A server's key and its certificate, which it has signed itself.
class Identity;
/// Makes one with a key of its own. `name`: a DNS name, the certificate's only alternative name. It
/// takes up to a second (RSA); its randomness and the time of its validity are the library's own.
std::shared_ptr<const Identity> make_identity(CertificateKind kind, const std::string& name);

/// The name of an alert by its number, with spaces; "alert 200" where there is none. No two have
/// the same.
std::string alert_name(uint8_t alert);

struct Options {
  Version version = Version::both;
  /// Key exchange groups by the library's names ("X25519", "P-256"), the most wanted first, with
  /// colons between; empty: the library's own choice.
  std::string groups{};
  /// Cipher suites by the library's names, with colons between; empty: its own choice. Those of one
  /// version alone leave the other one out.
  std::string ciphers{};
  bool resumption = false;    ///< by tickets: RFC 8446 section 2.2, RFC 5077
  std::string server_name{};  ///< in the client's SNI; empty: none
  std::string alpn{};         ///< the one protocol that is offered and taken; empty: none
  bool key_log = false;       ///< secrets of connections are kept, for whoever takes them
  std::shared_ptr<const Identity> identity{};  ///< the server's
};

}  // namespace engine::tls
