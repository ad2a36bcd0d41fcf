#pragma once
// The TLS part of one connection, and what the connections of one core share.

#include <openssl/bio.h>
#include <openssl/ssl.h>

#include <array>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/raw_bytes.h"
#include "base/time.h"
#include "flow/pool.h"
#include "tls/identity.h"
#include "tls/records.h"
#include "tls/sealed_buffers.h"

namespace engine::tls {

class Endpoint;

struct TlsConnection {
  /// A buffer of the profile that is not encrypted yet, from `offset` on.
  struct Pending {
    uint32_t buffer;
    uint32_t offset;
  };
  /// A buffer of coded bytes, up to sequence number `end`.
  struct Sealed {
    uint32_t buffer;
    uint32_t end;
  };
  /// Received out of order.
  struct Held {
    uint32_t sequence;
    std::vector<uint8_t> bytes;
  };

  SSL* ssl = nullptr;     ///< nullptr: no step of the handshake was taken yet, or the library
                          ///< is not needed any more
  Protection protection;  ///< once it is not
  std::vector<Pending> pending;  ///< oldest first
  std::vector<Sealed> sealed;    ///< oldest first
  std::vector<Held> held;
  std::vector<uint8_t> unread;  ///< received in order: for the next step of the handshake, or the
                                ///< beginning of a record
  uint64_t ticket = 0;          ///< in the queue for a step; 0: none is due
  Nanoseconds due = 0;          ///< since when it is
  uint64_t received = 0;        ///< payload bytes, after decryption
  bool established = false;     ///< the handshake is complete
  bool closing = false;         ///< the program queues no more
  bool finished = false;        ///< nothing more is sent: close_notify or an alert was the last
  bool over = false;            ///< nothing more is read, either
  bool notified = false;        ///< the peer's close_notify came
  bool peer_closed = false;     ///< behind what is unread
  bool begun = false;           ///< it is counted in TlsCore::begun
  uint32_t next_free = 0;

  TlsConnection() = default;
  TlsConnection(const TlsConnection&) = delete;
  TlsConnection& operator=(const TlsConnection&) = delete;
  ~TlsConnection() { SSL_free(ssl); }

  void free_library() {
    if (ssl == nullptr) return;
    // A connection that did not end well must not make its ticket useless for others.
    SSL_set_shutdown(ssl, SSL_SENT_SHUTDOWN | SSL_RECEIVED_SHUTDOWN);
    SSL_free(ssl);
    ssl = nullptr;
  }

  uint32_t& pool_next() { return next_free; }
};

/// What the TLS connections of a run share on one core. The library reads from `input` and writes
/// to `output`: it sees no socket.
struct TlsCore {
  static constexpr int64_t kSealedBudget = int64_t{256} << 20;  ///< bytes of each size
  static constexpr uint64_t kHeldBudget = uint64_t{64} << 20;   ///< bytes of `held_bytes`
  /// Of records that are begun. Who begins one may have all of it, so that it can be completed.
  static constexpr uint64_t kBegunBudget = uint64_t{512} << 20;
  static constexpr uint64_t kMostBegun = kBegunBudget / (Records::kHeader + Records::kLongestCoded);
  /// Of one connection, coded and not acknowledged, bytes; Tunables::transmit_buffer is no larger.
  static constexpr uint32_t kMostUnacknowledged = 256 << 10;
  static constexpr size_t kKeysBudget = size_t{16} << 20;  ///< bytes of `keys`
  static constexpr uint32_t kRecord = 16384;  ///< payload bytes of a record, RFC 8446 section 5.1

  /// A flow whose handshake is to take its next step, which is some 100 us of work. The core takes
  /// one at a time, so that other flows wait for no more than that.
  struct Due {
    uint64_t ticket;  ///< as in the connection; another number there: it is not due any more
    uint32_t connection;
    uint32_t flow;
    Endpoint* endpoint;
  };

  explicit TlsCore(uint32_t most_connections);
  TlsCore(const TlsCore&) = delete;
  TlsCore& operator=(const TlsCore&) = delete;

  /// The one that is due for longest, taken out; nullopt: none is.
  std::optional<Due> take_due();

  std::deque<Due> due;   ///< oldest first
  uint64_t tickets = 0;  ///< numbers given to those that were due
  SealedBuffers sealed{kSealedBudget};
  Pool<TlsConnection> connections;
  uint64_t held_bytes = 0;  ///< out of order, or waiting for a step of a handshake
  uint64_t begun = 0;       ///< connections with the beginning of a record: they pay for it by a
                            ///< place, and while there is none by `held_bytes`
  std::string keys;         ///< lines as in a file of SSLKEYLOGFILE
  int step_error = SSL_ERROR_NONE;  ///< of the step that was begun, as of SSL_get_error
  std::span<const uint8_t> input;
  RawBytes output;
  std::array<uint8_t, kRecord> plaintext;
  Records records;
  /// Of all connections: it has no state but `input` and `output`.
  std::unique_ptr<BIO, Freeing<BIO_free>> bio;
};

}  // namespace engine::tls
