#pragma once
// The other end of one TLS connection: OpenSSL in memory over as little TCP as a wire without loss
// takes. It says what an engine does not.

#include <openssl/ssl.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "netsim/netsim.h"
#include "tls/identity.h"

namespace engine::netsim {

/// Whether OpenSSL has the alerts and the larger objects that were seen in 3.5, and not in 3.0.
/// Which version between them changed was not looked up.
inline constexpr bool kNewLibrary = OPENSSL_VERSION_NUMBER >= 0x30500000L;

class TlsPeer {
 public:
  using Context = std::unique_ptr<SSL_CTX, tls::Freeing<SSL_CTX_free>>;

  /// In the place of `side`: what the network's own core sends there is lost. The network's frames
  /// are trusted (Settings::offloads). `context` is of the role that goes with the side.
  TlsPeer(Network& network, Side side, SSL_CTX* context);
  TlsPeer(const TlsPeer&) = delete;
  TlsPeer& operator=(const TlsPeer&) = delete;

  /// A client's. Once more after a connection: the next one, from another port.
  void connect();
  /// Sends payload, and whatever the library has to say before it.
  void write(const std::string& text);
  /// Sends what the library has to say.
  void flush();

  SSL* ssl() { return ssl_.get(); }
  SSL_SESSION* ticket() { return ticket_.get(); }

  size_t segment = 1400;  ///< bytes
  /// May change what is to be sent.
  std::function<void(std::vector<uint8_t>&)> change = [](std::vector<uint8_t>&) {};
  /// Called when a handshake is complete, or payload came.
  std::function<void()> act = [] {};
  std::string received;      ///< payload
  std::vector<int> alerts;   ///< received, but close_notify
  bool established = false;  ///< of the present connection
  bool failed = false;

 private:
  void begin();
  bool take(const Seen& seen);
  void read();
  void send_segment(std::span<const uint8_t> payload, uint8_t flags);
  static void on_alert(const SSL* ssl, int where, int value);
  static int on_ticket(SSL* ssl, SSL_SESSION* ticket);

  Network& network_;
  const Side side_;
  SSL_CTX* const context_;
  std::unique_ptr<SSL, tls::Freeing<SSL_free>> ssl_;
  std::unique_ptr<SSL_SESSION, tls::Freeing<SSL_SESSION_free>> ticket_;
  BIO* input_ = nullptr;
  BIO* output_ = nullptr;
  uint16_t own_port_;
  uint16_t other_port_;
  uint32_t own_address_;
  uint32_t other_address_;
  uint32_t next_ = 0;      ///< sequence number to send
  uint32_t expected_ = 0;  ///< ... to receive
  bool own_frame_ = false;
};

}  // namespace engine::netsim
