#pragma once
// Records that a peer's library would not send, protected by the keys that it has.

#include <map>

#include "netsim/tls_pair.h"
#include "tls/records.h"

namespace engine::netsim {

using Bytes = std::vector<uint8_t>;
using tls::Records;

inline Bytes operator+(Bytes left, const Bytes& right) {
  left.insert(left.end(), right.begin(), right.end());
  return left;
}

/// The peer's keys, by its own key log.
struct PeerKeys {
  inline static std::map<std::string, std::string> lines;  // by label

  explicit PeerKeys(Pair& pair) : side(Pair::other_end(pair.engine_side)) {
    lines.clear();
    SSL_CTX_set_keylog_callback(pair.context.get(), [](const SSL*, const char* line) {
      const std::string text(line);
      lines[text.substr(0, text.find(' '))] = text.substr(text.find(' '));
    });
  }
  /// `handshake`: those of its Finished.
  void begin(SSL* ssl, bool handshake) {
    const std::string kind = handshake ? "HANDSHAKE_TRAFFIC_SECRET" : "TRAFFIC_SECRET_0";
    for (const std::string name : {"CLIENT_", "SERVER_"})
      protection.take_secret(side, name + "TRAFFIC_SECRET_0" + lines[name + kind]);
    records.begin(protection, tls::suite_of(ssl));
  }
  Bytes seal(uint8_t type, const Bytes& content) {
    RawBytes record;
    records.seal(protection, static_cast<Records::Type>(type), content, record);
    return {record.begin(), record.end()};
  }

  Side side;
  Records records;
  tls::Protection protection;
};

}  // namespace engine::netsim
