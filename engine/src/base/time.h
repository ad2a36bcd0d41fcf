#pragma once
// Time as the data path knows it: an argument, never a clock that is read.

#include <cstdint>

namespace engine {

/// Nanoseconds since the data core's epoch (engine start, or 0 of a test's virtual clock).
using Nanoseconds = int64_t;

inline constexpr Nanoseconds kMicrosecond = 1'000;
inline constexpr Nanoseconds kMillisecond = 1'000'000;
inline constexpr Nanoseconds kSecond = 1'000'000'000;

/// A send that found no frame buffer is tried again after that: devices give buffers back as they
/// send.
inline constexpr Nanoseconds kNoFrameRetry = 10 * kMillisecond;

}  // namespace engine
