#pragma once
#include <cstdint>

namespace engine {

/// A flow's timers. Each has a deadline of its own; the wheel holds the flow once, for the
/// earliest.
enum class TimerKind : uint8_t {
  retransmit,  ///< what it is for says Flow::retransmit_purpose
  delayed_ack,
  idle,     ///< handshake limit, keepalive; UDP: idle time
  program,  ///< delay
};
inline constexpr unsigned kTimerKinds = 4;

/// What TCP does when a flow's retransmission timer expires.
enum class RetransmitPurpose : uint8_t {
  send,       ///< sends what found no frame buffer; then the timeout is due for what is in flight
  handshake,  ///< sends the SYN or SYN-ACK, again unless there was no frame buffer
  timeout,    ///< retransmission timeout, RFC 6298
  probe,      ///< tail loss probe or reordering timer, RFC 8985; the timeout is due after it
  persist,    ///< asks for a window that is closed, RFC 9293 section 3.8.6.1
  time_wait_end  ///< the flow is over, RFC 9293 section 3.6.1
};

/// Time of timers and round trips: 2^14 ns (16.384 us), wrapping after 19.5 hours; differences up
/// to half of that are told apart.
using Tick = uint32_t;
inline constexpr unsigned kTickShift = 14;
inline constexpr Tick kMaxTimerTicks = 0x7000'0000;

inline Tick tick_of(int64_t nanoseconds) {
  return static_cast<Tick>(nanoseconds >> kTickShift);
}
/// At least one tick, rounded up, at most what can be told apart.
constexpr Tick ticks_for(int64_t nanoseconds) {
  int64_t ticks = (nanoseconds + (1 << kTickShift) - 1) >> kTickShift;
  if (ticks < 1) return 1;
  return ticks > kMaxTimerTicks ? kMaxTimerTicks : static_cast<Tick>(ticks);
}
/// At most what 32 bits hold, 71 minutes.
inline uint32_t microseconds_of(Tick ticks) {
  const uint64_t microseconds = (uint64_t{ticks} << kTickShift) / 1000;
  return microseconds > UINT32_MAX ? UINT32_MAX : static_cast<uint32_t>(microseconds);
}
/// The same of at most kMostShortTicks, 4 seconds: in 32 bits.
inline constexpr Tick kMostShortTicks = UINT32_MAX >> kTickShift;
inline uint32_t microseconds_of_short(Tick ticks) {
  return (ticks << kTickShift) / 1000;
}
inline bool tick_before(Tick a, Tick b) {
  return static_cast<int32_t>(a - b) < 0;
}

}  // namespace engine
