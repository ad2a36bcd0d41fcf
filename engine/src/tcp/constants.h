#pragma once
// Times and limits of the TCP implementation. Where they differ from an RFC's default the reason is
// that a generator is to see loss and trouble soon; TRex ASTF has values of the same order.

#include "base/time.h"
#include "flow/timer_kind.h"

namespace engine::tcp {

/// RFC 6298 (2.1): before the first round-trip sample.
inline constexpr Nanoseconds kInitialRto = 1 * kSecond;
/// Linux's minimum (RFC 6298 (2.4) says 1 s, which a generator cannot wait for).
inline constexpr Nanoseconds kMinRto = 200 * kMillisecond;
/// RFC 6298 (2.5) allows a bound of at least 60 s; the shorter one keeps a trial's drain bounded.
inline constexpr Nanoseconds kMaxRto = 5 * kSecond;
/// RFC 8985 section 7.2: a tail loss probe is sent two round trips after the last news, but not
/// before other stacks' delayed ACKs (Linux: 40 ms) have come.
inline constexpr Nanoseconds kMinProbe = 50 * kMillisecond;
/// RFC 8985 section 6.2: how long a hole below what SACK reported may be mere reordering; a quarter
/// of the round trip, and at least what paths with a millisecond clock do to order.
inline constexpr Nanoseconds kMinReorderingWindow = 4 * kMillisecond;
/// Unanswered retransmissions in a row after which a connection is given up.
inline constexpr unsigned kMaxRetransmissions = 6;
/// Back-off of SYN retransmissions, in initial RTOs: gentler than doubling, so that a lossy path
/// gets several tries within keep_init.
inline constexpr unsigned kSynBackoff[] = {1, 1, 1, 2, 2, 3};
/// RFC 9293 section 3.8.6.1: probes of a zero window, doubled up to the bound.
inline constexpr Nanoseconds kMinPersist = 500 * kMillisecond;
inline constexpr Nanoseconds kMaxPersist = 10 * kSecond;
/// TIME_WAIT: long enough to answer a retransmitted FIN, short enough not to hold 64k ports of a
/// client for minutes (RFC 9293 asks for 2 MSL; TRex uses 500 ms).
inline constexpr Nanoseconds kTimeWait = 500 * kMillisecond;
/// Unanswered probes, of keepalive or of a closed window, after which a connection is dropped (RFC
/// 9293 section 3.8.6.1: it stays for as long as the peer answers).
inline constexpr unsigned kMaxProbes = 8;

/// RFC 5961 section 10: challenge ACKs that a data core sends at most in a second.
inline constexpr uint32_t kChallengesPerSecond = 10'000;
/// A connection answers one segment without payload in such a time, as Linux does
/// (tcp_invalid_ratelimit), so that two ends that disagree do not answer each other for ever.
inline constexpr Nanoseconds kAnswerInterval = 500 * kMillisecond;

/// Values of the tunables cc_algo and do_ecn (TRex).
inline constexpr uint8_t kCubic = 1;
inline constexpr uint8_t kEcnActive = 1;   ///< the client asks for it, the server agrees
inline constexpr uint8_t kEcnPassive = 2;  ///< agrees only

}  // namespace engine::tcp
