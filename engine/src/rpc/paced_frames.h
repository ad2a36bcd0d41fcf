#pragma once
// Frames of push_pkts that leave one after the other.

#include <cstdint>
#include <map>
#include <vector>

#include "control/clock.h"
#include "control/frames.h"

namespace engine {

class PacedFrames {
 public:
  PacedFrames(const EngineClock& clock, Frames& frames) : clock_(clock), frames_(frames) {}

  /// Sends `frames` on `port`, each `gap_s` seconds behind the one before it; those without a gap
  /// at once. Returns how many were taken.
  size_t send(uint32_t port, std::vector<std::vector<uint8_t>> frames, double gap_s);
  /// Sends what is due.
  void advance(double now);
  /// Seconds until more is due.
  double patience(double now) const;

 private:
  struct Waiting {
    uint32_t port;
    std::vector<uint8_t> frame;
  };

  const EngineClock& clock_;
  Frames& frames_;
  std::multimap<double, Waiting> waiting_;  ///< by due time, s
};

}  // namespace engine
