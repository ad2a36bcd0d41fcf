#pragma once
// The library's settings for one side of one template, and what it calls back.

#include <openssl/ssl.h>

#include <memory>
#include <string>

#include "base/side.h"
#include "stats/tls_counts.h"
#include "tls/connection.h"
#include "tls/identity.h"
#include "tls/options.h"

namespace engine::tls {

/// Bytes that a record of a connection has at most: a client may ask for less than is usual.
size_t longest_fragment(const SSL* ssl);

class Library {
 public:
  /// `counts`, `tls_core`: outlive it. Throws OptionsError.
  Library(Side side, const Options& options, TlsCounts& counts, TlsCore& tls_core);
  Library(const Library&) = delete;
  Library& operator=(const Library&) = delete;

  /// Gives the connection its object of the library, whose handshake has not begun.
  void connect(TlsConnection& connection);
  /// After the handshake: takes the connection away from the library, if it is of TLS 1.3 and needs
  /// the library no more.
  void leave(TlsConnection& connection);
  /// Whether a complete handshake has the protocol that a client offers, if it offers one.
  bool has_protocol(const SSL* ssl) const;
  /// How many alerts were sent and received in handshakes.
  uint64_t alerts() const { return alerts_; }

 private:
  void set_suites(const Options& options);
  void configure(const Options& options);
  void configure_client(const Options& options);
  void configure_server(const Options& options);
  static void on_alert(const SSL* ssl, int where, int value);
  static void on_key(const SSL* ssl, const char* line);
  static int on_ticket(SSL* ssl, SSL_SESSION* ticket);
  static int choose_protocol(SSL* ssl, const unsigned char** chosen, unsigned char* length,
                             const unsigned char* offered, unsigned int offered_length, void* self);

  const Side side_;
  TlsCounts& counts_;
  TlsCore& tls_core_;
  const std::string server_name_;
  std::string protocol_;  ///< for ALPN, RFC 7301: with its length before it
  const bool key_log_;    ///< lines are kept
  const bool wants_tickets_;
  uint64_t alerts_ = 0;
  std::unique_ptr<SSL_CTX, Freeing<SSL_CTX_free>> context_;
  std::unique_ptr<SSL_SESSION, Freeing<SSL_SESSION_free>> ticket_;  ///< a client's latest
};

}  // namespace engine::tls
