#pragma once
// What the start of a run waits for: ports that know where to send.

#include <algorithm>

#include "control/config.h"
#include "control/ports.h"

namespace engine {

/// The ports from which flows and latency streams of clients go out; dummy ports lead nowhere.
PortMask client_ports(const Ports& ports);

/// Looks from time to time, for about a second, whether ports know where to send. Between two
/// looks the control thread does what else is asked of it.
class Resolution {
 public:
  /// `wanted`: bit p for port p.
  Resolution(const Ports& ports, PortMask wanted) : ports_(&ports), missing_(wanted) {}

  /// Looks, when a look is due at `now` (seconds). True: all ports know. Throws ProfileError: a
  /// port has no gateway that it could ask, or its gateway has been silent for all looks.
  bool advance(double now);
  /// Seconds from `now` until the next look is due.
  double patience(double now) const { return std::max(next_look_ - now, 0.0); }

  static constexpr double kLookPeriod = 0.01;  ///< seconds between two looks

 private:
  const Ports* ports_;
  PortMask missing_;
  int looks_ = 0;
  double next_look_ = 0;
};

}  // namespace engine
