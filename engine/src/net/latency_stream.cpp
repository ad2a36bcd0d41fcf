#include "net/latency_stream.h"

#include <cstdlib>
#include <cstring>

#include "net/checksum.h"
#include "net/ethernet.h"
#include "net/ip.h"

namespace engine {
namespace {

// IPv4 header, ICMP echo header (RFC 792), time, mark and sequence number, 4 bytes of nothing.
constexpr size_t kIcmpLength = 8;
constexpr size_t kIpLength = 48;
constexpr uint8_t kTypeOfService = 3;
constexpr uint8_t kTimeToLive = 255;
constexpr uint16_t kIdentifier = 0xaabb;
constexpr uint32_t kMark = 0x12345600;

constexpr Nanoseconds kFirstSent = 100 * kMillisecond;
/// Ports are started one after another: another may have begun to send so much earlier.
constexpr Nanoseconds kStartSpread = kSecond;
/// By how much the clocks of two cores may differ.
constexpr Nanoseconds kClockSkew = kMillisecond;
/// A sender further behind than this leaves out what it missed.
constexpr Nanoseconds kLongestDelay = 100 * kMillisecond;

/// What follows the ICMP header; in the machine's byte order, as TRex has it.
struct Stamp {
  uint64_t time;
  uint32_t mark;
  uint32_t sequence;
};

bool sum_is_good(const uint8_t* bytes, size_t length) {
  return checksum_fold(checksum_add(0, bytes, length)) == 0xffff;
}

}  // namespace

LatencyReport& LatencyReport::operator+=(const LatencyReport& other) {
  if (other.histogram.count() > histogram.count()) jitter_ns = other.jitter_ns;
  sent += other.sent;
  not_sent += other.not_sent;
  received += other.received;
  out_of_sequence += other.out_of_sequence;
  wrong_length += other.wrong_length;
  bad_ip_sum += other.bad_ip_sum;
  bad_icmp_sum += other.bad_icmp_sum;
  impossible_time += other.impossible_time;
  histogram += other.histogram;
  return *this;
}

void LatencyStream::start(const LatencyOptions& options, Nanoseconds now) {
  listening_ = true;
  started_ = now;
  options_ = options;
  next_ = options.sends && side_ == Side::client ? now + kFirstSent : INT64_MAX;
  sequence_ = 0;
  expected_ = 0;
  echo_sequence_ = 1;
  last_latency_ = -1;
  report_ = {};
  report_.histogram = DecadeHistogram(options.warm_up);
}

void LatencyStream::stop() {
  options_.sends = false;
  next_ = INT64_MAX;
}

void LatencyStream::set_interval(Nanoseconds interval, Nanoseconds now) {
  options_.interval = interval;
  if (next_ != INT64_MAX) next_ = std::min(next_, now + interval);
}

// A frame is taken for one of the stream's by its ICMP identifier or by its mark, so that damage to
// either, or to the IP header, is still found by the checksums. They are in the frame: its sender
// completes them, and a device that vouches for them is believed.
bool LatencyStream::receive(const RxSegment& segment, Nanoseconds now) {
  const Frame& frame = *segment.frame;
  if (!listening_ || frame.payload != nullptr || !segment.ipv4 ||
      frame.head_length < segment.l3_offset + kIpLength)
    return false;
  const uint8_t* const ip = segment.ip();
  const uint8_t* const icmp = ip + kIpv4Length;
  Stamp stamp;
  std::memcpy(&stamp, icmp + kIcmpLength, sizeof stamp);
  const bool is_icmp = ip[0] == 0x45 && ip[9] == kProtocolIcmp;
  const bool is_echo = is_icmp && (icmp[0] == kIcmpEchoRequest || icmp[0] == kIcmpEchoReply) &&
                       load_be<uint16_t>(icmp + 4) == kIdentifier;
  const bool is_marked = (stamp.mark & ~0xffu) == kMark + (uint32_t{options_.epoch} << 8);
  if (!is_echo && !is_marked) return false;

  const size_t length = load_be<uint16_t>(ip + 2);
  if (frame.checksums != Checksums::trusted) {
    if (!sum_is_good(ip, kIpv4Length)) {
      ++report_.bad_ip_sum;
      return true;
    }
    const bool at_hand = length >= kIpv4Length && segment.l3_offset + length <= frame.head_length;
    if (is_icmp && at_hand && !sum_is_good(icmp, length - kIpv4Length)) {
      ++report_.bad_icmp_sum;
      return true;
    }
  }
  if (!is_echo || !is_marked) return false;
  if (length != kIpLength) {
    ++report_.wrong_length;
    return true;
  }
  const auto sent = static_cast<Nanoseconds>(stamp.time);
  if (sent < started_ - kStartSpread || sent > now + kClockSkew) {
    ++report_.impossible_time;
    return true;
  }
  if (side_ == Side::server && icmp[0] == kIcmpEchoRequest) {
    echo_sequence_ = load_be<uint16_t>(icmp + 6);
    if (options_.sends && next_ == INT64_MAX) next_ = now;
  }
  const bool in_sequence = stamp.sequence == expected_;
  expected_ = stamp.sequence + 1;
  if (!in_sequence) {
    ++report_.out_of_sequence;
    return true;
  }
  measure(std::max<Nanoseconds>(now - sent, 0), now);
  return true;
}

void LatencyStream::measure(Nanoseconds latency, Nanoseconds now) {
  ++report_.received;
  report_.histogram.add(latency, now);
  if (last_latency_ >= 0)
    report_.jitter_ns +=
        (static_cast<double>(std::abs(latency - last_latency_)) - report_.jitter_ns) / 16;
  last_latency_ = latency;
}

void LatencyStream::advance(Nanoseconds now) {
  if (now - next_ > kLongestDelay) next_ = now;
  for (size_t sent = 0; next_ <= now && sent < kMostTogether; ++sent) {
    send(now);
    next_ += options_.interval;
  }
}

void LatencyStream::send(Nanoseconds now) {
  Frame* frame = transmit_.next();
  if (frame == nullptr) {
    ++report_.not_sent;
    return;
  }
  uint8_t* const ip =
      frame->head + write_ethernet(frame->head, l2_headers_[L2HeaderTable::kPort], kEtherTypeIpv4);
  std::memset(ip, 0, kIpLength);
  store_be<uint16_t>(ip, 0x4500 | kTypeOfService);
  store_be<uint16_t>(ip + 2, kIpLength);
  ip[8] = kTimeToLive;
  ip[9] = kProtocolIcmp;
  store_be(ip + 12, options_.source);
  store_be(ip + 16, options_.destination);
  store_be(ip + 10, checksum_finish(checksum_add(0, ip, kIpv4Length)));

  uint8_t* const icmp = ip + kIpv4Length;
  icmp[0] = side_ == Side::client ? kIcmpEchoRequest : kIcmpEchoReply;
  store_be(icmp + 4, kIdentifier);
  store_be(icmp + 6, side_ == Side::client ? static_cast<uint16_t>(sequence_ + 1) : echo_sequence_);
  const Stamp stamp{static_cast<uint64_t>(now),
                    kMark + (uint32_t{options_.epoch} << 8) + options_.port, sequence_};
  std::memcpy(icmp + kIcmpLength, &stamp, sizeof stamp);
  store_be(icmp + 2, checksum_finish(checksum_add(0, icmp, kIpLength - kIpv4Length)));

  frame->head_length = static_cast<uint16_t>(ip + kIpLength - frame->head);
  transmit_.commit();
  ++sequence_;
  ++report_.sent;
}

}  // namespace engine
