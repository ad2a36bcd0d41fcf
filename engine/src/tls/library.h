#pragma once
// The library's settings for one side of one template, and what it calls back.

#include <openssl/ssl.h>

#include <memory>
#include <string>

#include "base/side.h"
#include "stats/tls_counts.h"
#include "tls/identity.h"
#include "tls/options.h"
#include "tls/session.h"

namespace engine::tls {

class Library {
 public:
  /// `counts`, `shared`: outlive it. Throws OptionsError.
  Library(Side side, const Options& options, TlsCounts& counts, Shared& shared);
  Library(const Library&) = delete;
  Library& operator=(const Library&) = delete;

  /// Gives the session a connection, whose handshake has not begun.
  void connect(Session& session);
  /// After the handshake: takes the connection away from the library, if it is of TLS 1.3 and needs
  /// the library no more.
  void leave(Session& session);

 private:
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
  Shared& shared_;
  const std::string server_name_;
  std::string protocol_;  ///< for ALPN, RFC 7301: with its length before it
  const bool key_log_;    ///< lines are kept
  const bool wants_tickets_;
  std::unique_ptr<SSL_CTX, Freeing<SSL_CTX_free>> context_;
  std::unique_ptr<SSL_SESSION, Freeing<SSL_SESSION_free>> ticket_;  ///< a client's latest
};

}  // namespace engine::tls
