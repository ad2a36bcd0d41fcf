// Records of a connection whose handshake is complete: those of the library, and those that the
// endpoint protects itself.

#include <openssl/err.h>

#include <algorithm>
#include <array>

#include "base/byte_order.h"
#include "tls/endpoint.h"

namespace engine::tls {

void Endpoint::read(Turn& turn) {
  turn.session.protection.suite == Suite::none ? read_by_library(turn) : read_records(turn);
}

void Endpoint::read_by_library(Turn& turn) {
  Session& session = turn.session;
  ERR_clear_error();
  for (;;) {
    size_t length = 0;
    const int outcome =
        SSL_read_ex(session.ssl, shared_.plaintext.data(), shared_.plaintext.size(), &length);
    if (outcome != 1) {
      const int error = SSL_get_error(session.ssl, outcome);
      if (error == SSL_ERROR_ZERO_RETURN) {
        take_end(turn);
      } else if (error != SSL_ERROR_WANT_READ) {
        fail(turn);
      }
      return;
    }
    take_payload(turn, {shared_.plaintext.data(), length});
  }
}

/// The peer's close_notify, to the library. RFC 5246 section 7.2.1: it is answered at once, and
/// what is still to be sent is not. In TLS 1.3 either end ends what it sends itself.
void Endpoint::take_end(Turn& turn) {
  Session& session = turn.session;
  session.notified = true;
  if (SSL_version(session.ssl) == TLS1_3_VERSION || session.finished) {
    SSL_free_buffers(session.ssl);
    return;
  }
  session.pending.clear();
  finish(turn.context, turn.flow, session);
}

void Endpoint::take_payload(Turn& turn, std::span<const uint8_t> payload) {
  Session& session = turn.session;
  ++counts_.received_records;
  counts_.received_bytes += payload.size();
  if (turn.reader != nullptr) turn.reader->read(turn.flow, session.received, payload);
  session.received += payload.size();
  turn.payload += payload.size();
}

/// Takes records as they are whole: from where they arrived, if they did in one segment. What is of
/// the next one is kept.
void Endpoint::read_records(Turn& turn) {
  Session& session = turn.session;
  std::span<const uint8_t>& input = shared_.input;
  std::vector<uint8_t>& begun = session.unread;
  while (!session.over && !session.notified) {
    const std::span<const uint8_t> known = begun.empty() ? input : begun;
    const bool has_header = known.size() >= Records::kHeader;
    const size_t coded = has_header ? load_be<uint16_t>(known.data() + 3) : 0;
    if (coded > Records::kLongestCoded) return refuse(turn, SSL_AD_RECORD_OVERFLOW);
    const size_t wanted = Records::kHeader + coded;
    if (has_header && known.size() >= wanted) {
      take_record(turn, known.first(wanted));
      if (begun.empty())
        input = input.subspan(wanted);
      else
        give_back_unread(session);
      continue;
    }
    if (input.empty()) break;
    const auto more = input.first(std::min(wanted - begun.size(), input.size()));
    if (has_header) begun.reserve(wanted);
    begun.insert(begun.end(), more.begin(), more.end());
    input = input.subspan(more.size());
    shared_.held_bytes += more.size();
  }
  input = {};
}

void Endpoint::take_record(Turn& turn, std::span<const uint8_t> record) {
  Session& session = turn.session;
  const Records::Opened opened = shared_.records.open(session.protection, record);
  if (opened.alert != SSL_AD_CLOSE_NOTIFY) return refuse(turn, opened.alert);
  if (opened.type == Records::kApplication) return take_payload(turn, opened.content);
  if (opened.type == Records::kAlert) return take_alert(turn, opened.content);
  if (opened.type != Records::kHandshake) return refuse(turn, SSL_AD_UNEXPECTED_MESSAGE);
  const uint8_t alert = shared_.records.take_messages(session.protection, side_, opened.content,
                                                      session.finished ? nullptr : &shared_.output);
  if (alert != SSL_AD_CLOSE_NOTIFY) refuse(turn, alert);
}

/// RFC 8446 section 6: all but two are errors, whatever they say of their level. Section 5.4: an
/// alert without a byte is none.
void Endpoint::take_alert(Turn& turn, std::span<const uint8_t> content) {
  constexpr size_t kLength = 2;
  if (content.empty()) return refuse(turn, SSL_AD_UNEXPECTED_MESSAGE);
  if (content.size() != kLength) return refuse(turn, SSL_AD_DECODE_ERROR);
  const uint8_t alert = content[1];
  if (alert == SSL_AD_CLOSE_NOTIFY) {
    turn.session.notified = true;
    return;
  }
  ++counts_.alerts_received[alert];
  if (alert != SSL_AD_USER_CANCELLED) fail(turn);
}

/// Ends the connection with an alert, which no other may follow.
void Endpoint::refuse(Turn& turn, uint8_t alert) {
  if (!turn.session.finished) {
    send_alert(turn.session, alert);
    ++counts_.alerts_sent[alert];
  }
  fail(turn);
}

void Endpoint::send_alert(Session& session, uint8_t alert) {
  const uint8_t level = alert == SSL_AD_CLOSE_NOTIFY ? SSL3_AL_WARNING : SSL3_AL_FATAL;
  shared_.records.seal(session.protection, Records::kAlert, std::array{level, alert},
                       shared_.output);
}

/// `payload`: for one record, unless the peer wants shorter ones.
void Endpoint::write(Session& session, std::span<const uint8_t> payload) {
  if (session.protection.suite != Suite::none) {
    shared_.records.seal(session.protection, Records::kApplication, payload, shared_.output);
    ++counts_.sent_records;
  } else {
    size_t written = 0;
    ERR_clear_error();
    if (SSL_write_ex(session.ssl, payload.data(), payload.size(), &written) != 1) return;
    const size_t longest = longest_fragment(session.ssl);
    counts_.sent_records += (payload.size() + longest - 1) / longest;
  }
  counts_.sent_bytes += payload.size();
}

}  // namespace engine::tls
