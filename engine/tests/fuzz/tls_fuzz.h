#pragma once
// A TLS peer whose bytes are changed on their way to the engine, by a script.

#include <openssl/rand.h>

#include <algorithm>
#include <cstdlib>

#include "fuzz/script.h"
#include "netsim/tls_peer.h"
#include "tls/options.h"

namespace engine::netsim {

/// The same bytes in every run: all of the library's randomness is a count from here on.
inline uint64_t& random_count() {
  static uint64_t count = 0;
  return count;
}

inline void use_known_randomness() {
  constexpr auto kBytes = [](unsigned char* bytes, int length) {
    for (int i = 0; i < length; ++i)
      bytes[i] = static_cast<unsigned char>(scramble(++random_count()));
    return 1;
  };
  constexpr auto kStatus = [] { return 1; };
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
  static const RAND_METHOD method{nullptr, kBytes, nullptr, nullptr, kBytes, kStatus};
  RAND_set_rand_method(&method);
#pragma GCC diagnostic pop
}

/// One connection between the engine and a peer, or a few. Input: version and resumption, the
/// length of segments; then a script whose steps change what the peer sends next.
inline void fuzz_tls(Side peer_side, const uint8_t* data, size_t size) {
  // What the library makes once, by its own clock.
  static const auto identity = [] {
    use_known_randomness();
    return tls::make_identity(tls::CertificateKind::p256, "stackcost.test");
  }();
  Script script(data, std::min<size_t>(size, 2048));
  const uint8_t kind = script.next();
  const auto options = std::make_shared<tls::Options>();
  options->version = static_cast<tls::Version>(kind % 3);
  options->resumption = (kind & 4) != 0;
  options->alpn = (kind & 8) != 0 ? "http/1.1" : "";
  options->identity = identity;
  RunOptions run;
  run.tls = {options};
  Settings settings;
  settings.offloads.checksum = true;
  settings.max_flows = 32;
  settings.wire_bytes = size_t{256} << 10;
  const bool client = peer_side == Side::client;
  // Made once: it takes longer than a handshake.
  static const TlsPeer::Context context = [client] {
    TlsPeer::Context made(SSL_CTX_new(client ? TLS_client_method() : TLS_server_method()));
    SSL_CTX_set_session_cache_mode(
        made.get(),
        client ? SSL_SESS_CACHE_CLIENT | SSL_SESS_CACHE_NO_INTERNAL : SSL_SESS_CACHE_OFF);
    if (!client) {
      SSL_CTX_use_certificate(made.get(), identity->certificate());
      SSL_CTX_use_PrivateKey(made.get(), identity->key());
    }
    return made;
  }();
  random_count() = 0;
  {
    Network network(settings, profile({.response = 3000, .limit = 2}), run);
    TlsPeer peer(network, peer_side, context.get());
    peer.segment = 1 + script.next() * size_t{6};
    peer.change = [&script](std::vector<uint8_t>& bytes) {
      for (int edits = script.next() % 4; edits > 0; --edits) {
        const size_t offset = (script.next() << 8 | script.next()) % bytes.size();
        bytes[offset] = script.next();
      }
      const uint8_t length = script.next();
      if (length % 8 == 1) bytes.resize(bytes.size() * (length / 8) / 32);
      if (length % 8 == 2) {
        const std::vector<uint8_t> more = script.bytes(length);
        bytes.insert(bytes.end(), more.begin(), more.end());
      }
    };
    peer.act = [&] {
      if (client ? peer.received.empty() : !peer.received.empty())
        peer.write(std::string(client ? 100 : 3000, 'x'));
      if (script.next() % 8 == 1) SSL_key_update(peer.ssl(), SSL_KEY_UPDATE_REQUESTED);
    };
    for (int connections = 2; connections > 0; --connections) {
      if (client) peer.connect();
      network.run_until(network.now() + 150 * kMillisecond);
    }
    const Side engine_side = client ? Side::server : Side::client;
    const TlsCounts counts =
        network.run(engine_side).report().tls.at(0).sides[index_of(engine_side)];
    if (counts.full + counts.resumed + counts.failed > 4) std::abort();
    for (const Side side : {Side::client, Side::server}) network.close(side);
    const tls::TlsCore& core = *network.run(engine_side).tls_core();
    if (core.held_bytes != 0 || core.begun != 0 || core.sealed.in_use() != 0 ||
        core.connections.in_use() != 0)
      std::abort();
  }
}

}  // namespace engine::netsim
