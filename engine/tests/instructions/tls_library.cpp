// What the TLS library takes alone, which script/bench tls puts beside the engine's figures: one
// connection after the other, both ends in memory, no TCP. Certificate of P-256, group X25519,
// AES-256-GCM, as the engine's templates have them when nothing else is asked for.
//
// Usage: tls-library SECONDS. Prints the least of five rounds each: microseconds of the client's
// and of the server's half of a full handshake, by this thread's own time; bytes of payload that
// the cipher alone encrypts and decrypts a second, in records of 16,384 bytes; bytes that the
// library keeps for a connection at rest, of a client and of a server.

#include <openssl/evp.h>
#include <openssl/ssl.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <memory>
#include <vector>

#include "base/side.h"
#include "tls/identity.h"
#include "tls/library_memory.h"

namespace engine {
namespace {

using tls::Freeing;

constexpr int kRounds = 5;
constexpr int kRecord = 16384;

double seconds() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

struct Ends {
  std::unique_ptr<SSL_CTX, Freeing<SSL_CTX_free>> client{SSL_CTX_new(TLS_client_method())};
  std::unique_ptr<SSL_CTX, Freeing<SSL_CTX_free>> server{SSL_CTX_new(TLS_server_method())};

  Ends() {
    static const auto identity = tls::make_identity(tls::CertificateKind::p256, "stackcost.test");
    SSL_CTX_use_certificate(server.get(), identity->certificate());
    SSL_CTX_use_PrivateKey(server.get(), identity->key());
    for (SSL_CTX* const context : {client.get(), server.get()}) {
      SSL_CTX_set_mode(context, SSL_MODE_RELEASE_BUFFERS);
      SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
      SSL_CTX_set_options(context, SSL_OP_NO_TICKET);
      SSL_CTX_set1_groups_list(context, "X25519");
    }
    SSL_CTX_set_num_tickets(server.get(), 0);
    SSL_CTX_set_cert_verify_callback(
        client.get(), [](X509_STORE_CTX*, void*) { return 1; }, nullptr);
  }
};

using Connection = std::unique_ptr<SSL, Freeing<SSL_free>>;

struct Pair {
  Connection client, server;
};

/// A full handshake; adds each end's time to `spent`. Both ends share two lists of bytes.
Pair connect(const Ends& ends, double (&spent)[2]) {
  BIO* to_server = BIO_new(BIO_s_mem());
  BIO* to_client = BIO_new(BIO_s_mem());
  for (BIO* const bio : {to_server, to_client}) BIO_set_mem_eof_return(bio, -1);
  Pair pair;
  bool done[2] = {};
  while (!done[0] || !done[1])
    for (const int end : {0, 1}) {
      const double since = seconds();
      Connection& mine = end == 0 ? pair.client : pair.server;
      if (mine == nullptr) {
        mine.reset(SSL_new(end == 0 ? ends.client.get() : ends.server.get()));
        BIO_up_ref(to_server);
        BIO_up_ref(to_client);
        SSL_set_bio(mine.get(), end == 0 ? to_client : to_server, end == 0 ? to_server : to_client);
        end == 0 ? SSL_set_connect_state(mine.get()) : SSL_set_accept_state(mine.get());
      }
      done[end] = SSL_do_handshake(mine.get()) == 1;
      spent[end] += seconds() - since;
    }
  BIO_free(to_server);
  BIO_free(to_client);
  return pair;
}

void handshakes(const Ends& ends, double lasting) {
  double least[2] = {1, 1};
  for (int round = 0; round < kRounds; ++round) {
    double spent[2] = {};
    int count = 0;
    for (; spent[0] + spent[1] < lasting / kRounds; ++count) {
      Pair pair = connect(ends, spent);
      double since = seconds();
      pair.client.reset();
      spent[0] += seconds() - since;
    }
    for (const int end : {0, 1}) least[end] = std::min(least[end], spent[end] / count);
  }
  std::printf("handshake: %.1f us client, %.1f us server\n", 1e6 * least[0], 1e6 * least[1]);
}

/// Bytes a second of one direction.
double cipher(bool encrypt, double lasting) {
  const std::unique_ptr<EVP_CIPHER_CTX, Freeing<EVP_CIPHER_CTX_free>> context(EVP_CIPHER_CTX_new());
  std::vector<uint8_t> from(kRecord, 'x'), to(kRecord + 16), key(32, 1), nonce(12, 2), tag(16);
  EVP_CipherInit_ex(context.get(), EVP_aes_256_gcm(), nullptr, key.data(), nonce.data(), encrypt);
  double best = 0;
  for (int round = 0; round < kRounds; ++round) {
    const double since = seconds();
    double spent = 0, bytes = 0;
    for (; spent < lasting / kRounds; spent = seconds() - since)
      for (int i = 0; i < 100; ++i, bytes += kRecord) {
        int length = 0;
        EVP_CipherInit_ex(context.get(), nullptr, nullptr, nullptr, nonce.data(), encrypt);
        EVP_CipherUpdate(context.get(), nullptr, &length, tag.data(), 5);
        EVP_CipherUpdate(context.get(), to.data(), &length, from.data(), kRecord);
        if (encrypt) {
          EVP_CipherFinal_ex(context.get(), to.data(), &length);
          EVP_CIPHER_CTX_ctrl(context.get(), EVP_CTRL_AEAD_GET_TAG, 16, tag.data());
        } else {
          EVP_CIPHER_CTX_ctrl(context.get(), EVP_CTRL_AEAD_SET_TAG, 16, tag.data());
          EVP_CipherFinal_ex(context.get(), to.data(), &length);  // refused, as work is the same
        }
      }
    best = std::max(best, bytes / spent);
  }
  return best;
}

void memory(const Ends& ends) {
  constexpr int kConnections = 200;
  std::vector<Connection> clients, servers;
  double spent[2] = {};
  const uint64_t before = tls::library_bytes().value_or(0);
  for (int i = 0; i < kConnections; ++i) {
    Pair pair = connect(ends, spent);
    SSL_set_bio(pair.client.get(), nullptr, nullptr);  // the ends' own lists are not the library's
    SSL_set_bio(pair.server.get(), nullptr, nullptr);
    clients.push_back(std::move(pair.client));
    servers.push_back(std::move(pair.server));
  }
  const uint64_t both = tls::library_bytes().value_or(0);
  clients.clear();
  const uint64_t servers_only = tls::library_bytes().value_or(0);
  std::printf("at rest: %.0f bytes client, %.0f bytes server\n",
              static_cast<double>(both - servers_only) / kConnections,
              static_cast<double>(servers_only - before) / kConnections);
}

}  // namespace
}  // namespace engine

int main(int count, char** arguments) {
  const double seconds = count > 1 ? std::atof(arguments[1]) : 1;
  const engine::Ends ends;
  engine::handshakes(ends, seconds);
  std::printf("cipher: %.0f bytes/s encrypted, %.0f bytes/s decrypted\n",
              engine::cipher(true, seconds), engine::cipher(false, seconds));
  engine::memory(ends);
}
