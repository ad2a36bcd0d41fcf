#pragma once
// What came of the TLS connections of one template.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "base/side.h"
#include "base/time.h"

namespace engine {

/// How often each alert was seen, by its number (RFC 8446 section 6); close_notify is none here.
using AlertCounts = std::array<uint64_t, 256>;

/// Of one side of one template, since the run's start.
struct TlsCounts {
  uint64_t full = 0;  ///< complete handshakes with a key exchange and a certificate
  uint64_t resumed =
      0;  ///< complete handshakes by a ticket, or session ID, of an earlier connection
  uint64_t failed = 0;   ///< connections that an alert, or the peer's end in a handshake, broke off
  uint64_t ended = 0;    ///< of those: the peer closed in the middle of the handshake
  uint64_t not_tls = 0;  ///< of those: what the peer sent first is nothing of TLS
  uint64_t without_protocol = 0;  ///< of those: the server chose nothing of what ALPN offered
  uint64_t truncated = 0;         ///< the peer closed after the handshake without close_notify
  uint64_t sent_bytes = 0;        ///< payload, before it was encrypted
  uint64_t sent_records = 0;
  uint64_t received_bytes = 0;  ///< payload, after it was decrypted
  uint64_t received_records = 0;
  uint64_t lacked_memory = 0;  ///< segments taken for lost, and records put off: no memory was left
  uint64_t cut_segments = 0;   ///< the port had only their beginning: the rest has to come again
  uint64_t keys_not_kept = 0;  ///< lines of the key log
  uint64_t waiting = 0;        ///< connections whose next step of the handshake is due, now
  uint64_t most_waiting = 0;   ///< the most at once; of several cores added up
  uint64_t steps = 0;          ///< of handshakes
  Nanoseconds step_time = 0;   ///< that these took
  Nanoseconds waited = 0;      ///< from when they were due to their beginning, all together
  Nanoseconds longest_waited = 0;  ///< of one step
  AlertCounts alerts_sent{};
  AlertCounts alerts_received{};

  TlsCounts& operator+=(const TlsCounts& other) {
    full += other.full;
    resumed += other.resumed;
    failed += other.failed;
    ended += other.ended;
    not_tls += other.not_tls;
    without_protocol += other.without_protocol;
    truncated += other.truncated;
    sent_bytes += other.sent_bytes;
    sent_records += other.sent_records;
    received_bytes += other.received_bytes;
    received_records += other.received_records;
    lacked_memory += other.lacked_memory;
    cut_segments += other.cut_segments;
    keys_not_kept += other.keys_not_kept;
    waiting += other.waiting;
    most_waiting += other.most_waiting;
    steps += other.steps;
    step_time += other.step_time;
    waited += other.waited;
    longest_waited = std::max(longest_waited, other.longest_waited);
    for (size_t alert = 0; alert < alerts_sent.size(); ++alert) {
      alerts_sent[alert] += other.alerts_sent[alert];
      alerts_received[alert] += other.alerts_received[alert];
    }
    return *this;
  }
};

/// Of one template.
struct TlsBlock {
  bool used = false;  ///< the template has TLS
  std::array<TlsCounts, kSides> sides;

  TlsBlock& operator+=(const TlsBlock& other) {
    used |= other.used;
    for (size_t side = 0; side < kSides; ++side) sides[side] += other.sides[side];
    return *this;
  }
};

}  // namespace engine
