#pragma once
// Latency streams: ICMP echo packets that carry the time they were sent (TRex ASTF, start_latency).

#include <cstdint>

#include "base/side.h"
#include "base/time.h"
#include "net/l2_header.h"
#include "net/rx_segment.h"
#include "stats/decade_histogram.h"

namespace engine {

/// What one port sends.
struct LatencyOptions {
  Nanoseconds interval = kSecond;
  uint64_t warm_up = 0;  ///< samples that the maximum leaves out
  uint32_t source = 0;   ///< addresses, host order
  uint32_t destination = 0;
  uint8_t port = 0;    ///< number of this port
  uint8_t epoch = 0;   ///< tells packets of this run from those of an earlier one
  bool sends = false;  ///< a server port sends only once a request has come, too
};

/// What a port sent and got. One direction: a packet's time is taken to where it arrives. A packet
/// that arrived is in one of the counters of those; of `received` alone the time counts.
struct LatencyReport {
  uint64_t sent = 0;
  uint64_t not_sent = 0;  ///< no packet buffer
  uint64_t received = 0;  ///< in sequence, whole
  uint64_t out_of_sequence = 0;
  uint64_t wrong_length = 0;
  uint64_t bad_ip_sum = 0;       ///< IPv4 header checksum wrong
  uint64_t bad_icmp_sum = 0;     ///< ICMP checksum wrong
  uint64_t impossible_time = 0;  ///< sent before the streams began, or later than it arrived
  double jitter_ns = 0;          ///< RFC 3550 section 6.4.1
  DecadeHistogram histogram{};   ///< its constructor is explicit

  LatencyReport& operator+=(const LatencyReport& other);
};

/// The latency stream of one port on one data core. A client port sends echo requests at a rate; a
/// server port, of its own, echo replies at the same rate from the first request on. Both carry the
/// time, so each direction is measured by the clock that all cores share.
class LatencyStream {
 public:
  /// `l2_headers`[L2HeaderTable::kPort] is the port's own; `transmit` sends.
  LatencyStream(Side side, const L2HeaderTable& l2_headers, TransmitQueue& transmit)
      : side_(side), l2_headers_(l2_headers), transmit_(transmit) {}

  /// Begins with all counters at 0.
  void start(const LatencyOptions& options, Nanoseconds now);
  /// Sends no more; what is under way still counts.
  void stop();
  void set_interval(Nanoseconds interval, Nanoseconds now);

  /// Processes a frame of the stream, also a damaged one. False: it is of no stream.
  bool receive(const RxSegment& segment, Nanoseconds now);
  /// Sends what is due, at most kMostTogether packets; the rest stays due.
  void advance(Nanoseconds now);
  Nanoseconds next_deadline() const { return next_; }

  const LatencyReport& report() const { return report_; }

 private:
  static constexpr size_t kMostTogether = TransmitQueue::kBurst;

  void send(Nanoseconds now);
  void measure(Nanoseconds latency, Nanoseconds now);

  Side side_;
  const L2HeaderTable& l2_headers_;
  TransmitQueue& transmit_;
  bool listening_ = false;   ///< since the first start
  Nanoseconds started_ = 0;  ///< last
  LatencyOptions options_;
  Nanoseconds next_ = INT64_MAX;
  uint32_t sequence_ = 0;       ///< of the next packet sent
  uint32_t expected_ = 0;       ///< of the next packet received
  uint16_t echo_sequence_ = 1;  ///< a server's: of the last request
  Nanoseconds last_latency_ = -1;
  LatencyReport report_;
};

}  // namespace engine
