// Records of a connection whose handshake is complete: those of the library, and those that the
// endpoint protects itself.

#include <openssl/err.h>

#include <algorithm>
#include <array>

#include "base/byte_order.h"
#include "tls/endpoint.h"

namespace engine::tls {

void Endpoint::read(Batch& batch) {
  batch.connection.protection.suite == Suite::none ? read_by_library(batch) : read_records(batch);
}

void Endpoint::read_by_library(Batch& batch) {
  TlsConnection& connection = batch.connection;
  ERR_clear_error();
  for (;;) {
    size_t length = 0;
    const int outcome = SSL_read_ex(connection.ssl, tls_core_.plaintext.data(),
                                    tls_core_.plaintext.size(), &length);
    if (outcome != 1) {
      const int error = SSL_get_error(connection.ssl, outcome);
      if (error == SSL_ERROR_ZERO_RETURN) {
        take_end(batch);
      } else if (error != SSL_ERROR_WANT_READ) {
        fail(batch);
      }
      // The library has memory of its own for the beginning of a record.
      count_begun(connection, SSL_has_pending(connection.ssl) == 1);
      return;
    }
    take_payload(batch, {tls_core_.plaintext.data(), length});
  }
}

/// The peer's close_notify, to the library. RFC 5246 section 7.2.1: it is answered at once, and
/// what is still to be sent is not. In TLS 1.3 either end ends what it sends itself.
void Endpoint::take_end(Batch& batch) {
  TlsConnection& connection = batch.connection;
  connection.notified = true;
  if (SSL_version(connection.ssl) == TLS1_3_VERSION || connection.finished) {
    SSL_free_buffers(connection.ssl);
    return;
  }
  connection.pending.clear();
  finish(batch.context, batch.flow, connection);
}

void Endpoint::take_payload(Batch& batch, std::span<const uint8_t> payload) {
  TlsConnection& connection = batch.connection;
  ++counts_.received_records;
  counts_.received_bytes += payload.size();
  if (batch.reader != nullptr) batch.reader->read(batch.flow, connection.received, payload);
  connection.received += payload.size();
  batch.payload += payload.size();
}

/// Takes records as they are whole: from where they arrived, if they did in one segment. What is of
/// the next one is kept.
void Endpoint::read_records(Batch& batch) {
  TlsConnection& connection = batch.connection;
  std::span<const uint8_t>& input = tls_core_.input;
  std::vector<uint8_t>& begun = connection.unread;
  while (!connection.over && !connection.notified) {
    const std::span<const uint8_t> known = begun.empty() ? input : begun;
    const bool has_header = known.size() >= Records::kHeader;
    const size_t coded = has_header ? load_be<uint16_t>(known.data() + 3) : 0;
    if (coded > Records::kLongestCoded) return refuse(batch, SSL_AD_RECORD_OVERFLOW);
    const size_t wanted = Records::kHeader + coded;
    if (has_header && known.size() >= wanted) {
      take_record(batch, known.first(wanted));
      if (begun.empty())
        input = input.subspan(wanted);
      else
        give_back_unread(connection);
      continue;
    }
    if (input.empty()) break;
    if (!connection.begun && tls_core_.begun < TlsCore::kMostBegun) {
      tls_core_.held_bytes -= begun.size();
      count_begun(connection, true);
    }
    const auto more = input.first(std::min(wanted - begun.size(), input.size()));
    if (has_header) begun.reserve(wanted);
    begun.insert(begun.end(), more.begin(), more.end());
    input = input.subspan(more.size());
    if (!connection.begun) tls_core_.held_bytes += more.size();
  }
  input = {};
}

void Endpoint::take_record(Batch& batch, std::span<const uint8_t> record) {
  TlsConnection& connection = batch.connection;
  const Records::Opened opened = tls_core_.records.open(connection.protection, record);
  if (opened.alert != SSL_AD_CLOSE_NOTIFY) return refuse(batch, opened.alert);
  if (opened.type == Records::kApplication) return take_payload(batch, opened.content);
  if (opened.type == Records::kAlert) return take_alert(batch, opened.content);
  if (opened.type != Records::kHandshake) return refuse(batch, SSL_AD_UNEXPECTED_MESSAGE);
  const uint8_t alert =
      tls_core_.records.take_messages(connection.protection, side_, opened.content,
                                      connection.finished ? nullptr : &tls_core_.output);
  if (alert != SSL_AD_CLOSE_NOTIFY) refuse(batch, alert);
}

/// RFC 8446 section 6: all but two are errors, whatever they say of their level. Section 5.4: an
/// alert without a byte is none.
void Endpoint::take_alert(Batch& batch, std::span<const uint8_t> content) {
  constexpr size_t kLength = 2;
  if (content.empty()) return refuse(batch, SSL_AD_UNEXPECTED_MESSAGE);
  if (content.size() != kLength) return refuse(batch, SSL_AD_DECODE_ERROR);
  const uint8_t alert = content[1];
  if (alert == SSL_AD_CLOSE_NOTIFY) {
    batch.connection.notified = true;
    return;
  }
  ++counts_.alerts_received[alert];
  if (alert != SSL_AD_USER_CANCELLED) fail(batch);
}

/// Ends the connection with an alert, which no other may follow.
void Endpoint::refuse(Batch& batch, uint8_t alert) {
  if (!batch.connection.finished) {
    send_alert(batch.connection, alert);
    ++counts_.alerts_sent[alert];
  }
  fail(batch);
}

void Endpoint::send_alert(TlsConnection& connection, uint8_t alert) {
  const uint8_t level = alert == SSL_AD_CLOSE_NOTIFY ? SSL3_AL_WARNING : SSL3_AL_FATAL;
  tls_core_.records.seal(connection.protection, Records::kAlert, std::array{level, alert},
                         tls_core_.output);
}

/// `payload`: for one record, unless the peer wants shorter ones.
void Endpoint::write(TlsConnection& connection, std::span<const uint8_t> payload) {
  if (connection.protection.suite != Suite::none) {
    tls_core_.records.seal(connection.protection, Records::kApplication, payload, tls_core_.output);
    ++counts_.sent_records;
  } else {
    size_t written = 0;
    ERR_clear_error();
    if (SSL_write_ex(connection.ssl, payload.data(), payload.size(), &written) != 1) return;
    const size_t longest = longest_fragment(connection.ssl);
    counts_.sent_records += (payload.size() + longest - 1) / longest;
  }
  counts_.sent_bytes += payload.size();
}

}  // namespace engine::tls
