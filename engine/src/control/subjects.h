#pragma once
// All that the control plane can ask the engine, by subject.

#include "control/clock.h"
#include "control/cores.h"
#include "control/frames.h"
#include "control/latency_streams.h"
#include "control/ports.h"
#include "control/runs.h"

namespace engine {

/// All calls come from one thread, the control thread. What they read of data cores, the cores do
/// between two bursts, all asked at once.
struct Subjects {
  const EngineClock& clock;
  Ports& ports;
  Cores& cores;
  Runs& runs;
  Frames& frames;
  LatencyStreams& latency;
};

}  // namespace engine
