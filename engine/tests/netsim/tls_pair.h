#pragma once
// The engine at one side of a TLS connection, OpenSSL at the other.

#include <gtest/gtest.h>

#include "netsim/netsim.h"
#include "netsim/tls_peer.h"
#include "tls/options.h"

namespace engine::netsim {

inline constexpr size_t kRequest = 100;
inline constexpr size_t kResponse = 5000;

inline std::shared_ptr<const tls::Identity> peer_identity() {
  static const auto made = tls::make_identity(tls::CertificateKind::p256, "stackcost.test");
  return made;
}

inline RunOptions engine_options(tls::Options options) {
  options.identity = peer_identity();
  RunOptions run;
  run.tls = {std::make_shared<const tls::Options>(std::move(options))};
  return run;
}

inline Settings trusted() {
  Settings settings;
  settings.offloads.checksum = true;
  return settings;
}

/// Clients ask twice over one connection.
inline std::string twice() {
  return profile({.response = kResponse,
                  .limit = 1,
                  .client_commands = R"({"name":"tx","buf_index":0},)"
                                     R"({"name":"rx","min_bytes":5000,"clear":true},)"
                                     R"({"name":"tx","buf_index":0},)"
                                     R"({"name":"rx","min_bytes":5000})",
                  .server_commands = R"({"name":"rx","min_bytes":100,"clear":true},)"
                                     R"({"name":"tx","buf_index":1},)"
                                     R"({"name":"rx","min_bytes":100,"clear":true},)"
                                     R"({"name":"tx","buf_index":1},{"name":"nc"})"});
}

/// The engine at one side, OpenSSL at the other.
struct Pair {
  explicit Pair(Side peer_side, const tls::Options& options = {}, const std::string& what = twice())
      : network(trusted(), what, engine_options(options)),
        engine_side(other_end(peer_side)),
        context(SSL_CTX_new(peer_side == Side::client ? TLS_client_method() : TLS_server_method())),
        peer(network, peer_side, context.get()) {
    if (peer_side == Side::client) {
      SSL_CTX_set_session_cache_mode(context.get(),
                                     SSL_SESS_CACHE_CLIENT | SSL_SESS_CACHE_NO_INTERNAL);
    } else {
      SSL_CTX_use_certificate(context.get(), peer_identity()->certificate());
      SSL_CTX_use_PrivateKey(context.get(), peer_identity()->key());
    }
    peer.act = [this] { answer(); };
  }

  static Side other_end(Side side) { return side == Side::client ? Side::server : Side::client; }

  /// As a server does: a response to each request. As a client: the next request.
  void answer() {
    const bool client = engine_side == Side::server;
    const size_t each = client ? kResponse : kRequest;
    if (peer.received.size() % each != 0 || (!client && peer.received.empty())) return;
    if (client && peer.received.size() == 2 * each) return;
    if (peer.received.size() == each) between();
    peer.write(std::string(client ? kRequest : kResponse, 'x'));
  }

  TlsCounts counts() {
    return network.run(engine_side).report().tls.at(0).sides[index_of(engine_side)];
  }

  /// Two requests and two responses.
  void expect_whole() {
    if (engine_side == Side::server) peer.connect();
    network.run_until(network.now() + 2 * kSecond);
    const bool client = engine_side == Side::server;
    EXPECT_FALSE(peer.failed);
    EXPECT_EQ(peer.received.size(), 2 * (client ? kResponse : kRequest));
    EXPECT_EQ(counts().received_bytes, 2 * (client ? kRequest : kResponse));
    EXPECT_EQ(counts().failed, 0u);
    EXPECT_EQ(counts().full + counts().resumed, 1u);
  }

  Network network;
  Side engine_side;
  TlsPeer::Context context;
  TlsPeer peer;
  std::function<void()> between = [] {};  ///< both requests
};

}  // namespace engine::netsim
