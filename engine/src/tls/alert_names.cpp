// Alerts by the names of the IANA registry "TLS Alerts" (RFC 8446 section 6, RFC 8447 section 17),
// in OpenSSL's spelling.

#include <string>
#include <utility>

#include "tls/options.h"

namespace engine::tls {

std::string alert_name(uint8_t alert) {
  static constexpr std::pair<uint8_t, const char*> kNames[] = {
      {0, "close notify"},
      {10, "unexpected message"},
      {20, "bad record mac"},
      {21, "decryption failed"},
      {22, "record overflow"},
      {30, "decompression failure"},
      {40, "handshake failure"},
      {41, "no certificate"},
      {42, "bad certificate"},
      {43, "unsupported certificate"},
      {44, "certificate revoked"},
      {45, "certificate expired"},
      {46, "certificate unknown"},
      {47, "illegal parameter"},
      {48, "unknown CA"},
      {49, "access denied"},
      {50, "decode error"},
      {51, "decrypt error"},
      {52, "too many cids requested"},
      {60, "export restriction"},
      {70, "protocol version"},
      {71, "insufficient security"},
      {80, "internal error"},
      {86, "inappropriate fallback"},
      {90, "user canceled"},
      {100, "no renegotiation"},
      {109, "missing extension"},
      {110, "unsupported extension"},
      {111, "certificate unobtainable"},
      {112, "unrecognized name"},
      {113, "bad certificate status response"},
      {114, "bad certificate hash value"},
      {115, "unknown PSK identity"},
      {116, "certificate required"},
      {120, "no application protocol"},
      {121, "ech required"},
  };
  for (const auto& [number, name] : kNames)
    if (number == alert) return name;
  return "alert " + std::to_string(alert);
}

}  // namespace engine::tls
