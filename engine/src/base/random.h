#pragma once
// Random numbers of the data path.

#include <cstdint>

namespace engine {

/// A number that has nothing visible in common with that of `z` + 1: the output function of
/// SplitMix64 (Steele, Lea, Flood 2014).
constexpr uint64_t scramble(uint64_t z) {
  z = (z ^ (z >> 30)) * 0xbf58'476d'1ce4'e5b9;
  z = (z ^ (z >> 27)) * 0x94d0'49bb'1331'11eb;
  return z ^ (z >> 31);
}

/// xorshift64*: seeded, fast, good enough to spread delays and sequence numbers.
class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed ? seed : 1) {}
  uint64_t next() {
    state_ ^= state_ >> 12;
    state_ ^= state_ << 25;
    state_ ^= state_ >> 27;
    return state_ * 0x2545'f491'4f6c'dd1dULL;
  }
  /// Uniform in [low, high].
  uint64_t between(uint64_t low, uint64_t high) {
    return low +
           static_cast<uint64_t>((static_cast<unsigned __int128>(next()) * (high - low + 1)) >> 64);
  }
  /// True with `probability`, from 0 to 1.
  bool chance(double probability) {
    constexpr double kSteps = 9007199254740992.0;  // 2^53: what a double holds
    return static_cast<double>(next() >> 11) < probability * kSteps;
  }

 private:
  uint64_t state_;
};

}  // namespace engine
