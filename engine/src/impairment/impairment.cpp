#include "impairment/impairment.h"

#include <algorithm>

#include "net/checksum.h"
#include "net/copied_frame.h"
#include "net/ethernet.h"
#include "net/rx_segment.h"

namespace engine {

namespace {

constexpr uint8_t kEcnBits = 3;                // of IPv4's TOS byte: both bits are CE
constexpr uint8_t kEcnBitsV6 = kEcnBits << 4;  // of IPv6's second byte

/// Marks an ECN-capable packet; others stay as they are. False: it was none. The IPv4 checksum
/// follows the change alone (RFC 1624), so it still tells of damage done before.
bool mark_congestion(const Frame& frame) {
  const EtherType ethernet = read_ethernet(frame);
  uint8_t* const ip = frame.head + ethernet.length;
  const size_t room = frame.head_length - ethernet.length;
  if (ethernet.type == kEtherTypeIpv6 && room >= 40 && (ip[1] & kEcnBitsV6) != 0) {
    ip[1] |= kEcnBitsV6;
    return true;
  }
  const size_t length = room == 0 ? 0 : size_t{ip[0] & 15u} * 4;
  if (ethernet.type != kEtherTypeIpv4 || length < 20 || room < length || (ip[1] & kEcnBits) == 0)
    return false;
  const auto before = load_be<uint16_t>(ip);
  ip[1] |= kEcnBits;
  if (frame.checksums == Checksums::partial) return true;  // the device sums it up
  const auto sum = static_cast<uint16_t>(~load_be<uint16_t>(ip + 10));
  store_be<uint16_t>(ip + 10, checksum_finish(ChecksumSum{sum} + static_cast<uint16_t>(~before) +
                                              load_be<uint16_t>(ip)));
  return true;
}

/// Inverts a bit behind the Ethernet addresses and type; of `frame` in one piece, or of what there
/// is of it where the port cut it. Checksums that a device would complete, or vouched for, are
/// complete first: else nothing could tell of the damage.
bool corrupt_bit(Frame& frame, Random& random) {
  const size_t length = copied_length(frame);
  if (length <= kEthernetLength) return false;
  if (frame.checksums != Checksums::in_frame) complete_checksums(frame);
  frame.head[random.between(kEthernetLength, length - 1)] ^=
      static_cast<uint8_t>(1u << random.between(0, 7));
  return true;
}

}  // namespace

bool ImpairmentSettings::idle() const {
  return loss == 0 && duplication == 0 && reordering == 0 && congestion == 0 && corruption == 0 &&
         delay == 0 && jitter == 0 && rate == 0;
}

ImpairmentCounts& ImpairmentCounts::operator+=(const ImpairmentCounts& other) {
  frames += other.frames;
  lost += other.lost;
  no_room += other.no_room;
  queue_full += other.queue_full;
  delayed += other.delayed;
  reordered += other.reordered;
  duplicated += other.duplicated;
  marked += other.marked;
  corrupted += other.corrupted;
  return *this;
}

Impairment::Impairment(const ImpairmentSettings& settings, size_t line_bytes)
    : random_(0), line_(line_bytes) {
  set(settings);
}

void Impairment::set(const ImpairmentSettings& settings) {
  settings_ = settings;
  free_ = 0;
  random_ = Random(scramble(settings.seed));
}

bool Impairment::pass(const Frame& frame, Nanoseconds now) {
  ++counts_.frames;
  if (chance(settings_.loss)) {
    ++counts_.lost;
    return false;
  }
  if (settings_.rate != 0 && !queue(frame.length(), now)) {
    ++counts_.queue_full;
    return false;
  }
  const bool mark = chance(settings_.congestion);
  const bool corrupt = chance(settings_.corruption);
  Nanoseconds due = std::max(now, settings_.rate != 0 ? free_ : now) + settings_.delay;
  if (settings_.jitter != 0)
    due += static_cast<Nanoseconds>(random_.between(0, static_cast<uint64_t>(settings_.jitter)));
  if (chance(settings_.reordering)) {
    ++counts_.reordered;
    due += settings_.held;
  }
  const bool twice = chance(settings_.duplication);
  // Not past others that are about to go.
  const bool as_it_is = due == now && !mark && !corrupt && line_.next_due() > now;
  if (due != now) ++counts_.delayed;
  if (!as_it_is) keep(frame, due, mark, corrupt);
  if (twice) {
    ++counts_.duplicated;
    keep(frame, due, mark, false);
  }
  return as_it_is;
}

/// Lets a frame pass when those before it have. False: they are too many.
bool Impairment::queue(size_t bytes, Nanoseconds now) {
  const Nanoseconds begin = std::max(now, free_);
  if (begin - now > ImpairmentSettings::kLongestQueue) return false;
  free_ =
      begin + static_cast<Nanoseconds>(static_cast<double>(bytes * 8 * kSecond) / settings_.rate);
  return true;
}

void Impairment::keep(const Frame& frame, Nanoseconds due, bool mark, bool corrupt) {
  Frame* const copy = line_.put(frame, due);
  if (copy == nullptr) {
    ++counts_.no_room;
    return;
  }
  if (mark && mark_congestion(*copy)) ++counts_.marked;
  if (corrupt && corrupt_bit(*copy, random_)) ++counts_.corrupted;
}

}  // namespace engine
