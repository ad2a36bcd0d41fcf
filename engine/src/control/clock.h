#pragma once
// The engine's time, as the control plane reads it.

#include "base/time.h"

namespace engine {

class EngineClock {
 public:
  virtual ~EngineClock() = default;

  /// Seconds since the engine's epoch.
  virtual double now() const = 0;
  /// Wall-clock time (Unix) of that epoch.
  virtual Nanoseconds wall_epoch() const = 0;
};

}  // namespace engine
