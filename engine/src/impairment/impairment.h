#pragma once
// A network that is not perfect, in front of a port: it loses frames, delays, reorders, doubles,
// marks and damages them, by chance and seeded, and carries so many bits a second.

#include <cstdint>

#include "base/random.h"
#include "base/time.h"
#include "impairment/delay_line.h"
#include "net/frame.h"

namespace engine {

/// What becomes of the frames of one direction. Probabilities are of each frame by itself, from 0
/// to 1.
struct ImpairmentSettings {
  double loss = 0;         ///< it is lost
  double duplication = 0;  ///< it arrives twice
  double reordering = 0;  ///< it is held back by `held` beside its delay, so later ones overtake it
  double congestion = 0;  ///< an ECN-capable IP packet is marked CE (RFC 3168 section 5)
  double corruption = 0;  ///< one random bit behind the Ethernet header is inverted
  Nanoseconds delay = 0;
  Nanoseconds jitter = 0;  ///< beside the delay, each frame waits a uniform time from 0 to this
  Nanoseconds held = 300 * kMicrosecond;
  double rate = 0;  ///< bits of frames a second, before the delay; 0: as many as come
  uint64_t seed = 1;

  /// A frame that would wait longer for the rate finds the queue full and is lost.
  static constexpr Nanoseconds kLongestQueue = 100 * kMillisecond;

  /// Whether frames pass untouched.
  bool idle() const;
};

/// How many frames met what. One may be in several.
struct ImpairmentCounts {
  uint64_t frames = 0;  ///< all that came, impaired or not
  uint64_t lost = 0;
  uint64_t no_room = 0;     ///< lost because the delay line was full
  uint64_t queue_full = 0;  ///< lost because too many waited for the rate
  uint64_t delayed = 0;
  uint64_t reordered = 0;
  uint64_t duplicated = 0;
  uint64_t marked = 0;
  uint64_t corrupted = 0;

  ImpairmentCounts& operator+=(const ImpairmentCounts& other);
};

class Impairment {
 public:
  /// `line_bytes`: how much may be on its way (DelayLine).
  explicit Impairment(const ImpairmentSettings& settings = {},
                      size_t line_bytes = DelayLine::kBytes);

  /// From now on; what is on its way arrives as it was to. `seed` begins anew.
  void set(const ImpairmentSettings& settings);

  /// Takes a frame. True: it goes on at once as it is, by the caller's hand. False: it is lost, or
  /// what becomes of it waits in `line`.
  bool pass(const Frame& frame, Nanoseconds now);
  /// What is on its way.
  DelayLine& line() { return line_; }
  /// Nothing is on its way, and all that comes would pass as it is.
  bool idle() const { return settings_.idle() && line_.empty(); }

  const ImpairmentCounts& counts() const { return counts_; }

 private:
  bool queue(size_t bytes, Nanoseconds now);
  bool chance(double probability) { return probability > 0 && random_.chance(probability); }
  void keep(const Frame& frame, Nanoseconds due, bool mark, bool corrupt);

  ImpairmentSettings settings_;
  ImpairmentCounts counts_;
  Random random_;
  Nanoseconds free_ = 0;  ///< when the last frame that waits for the rate will have passed
  DelayLine line_;
};

}  // namespace engine
