#pragma once
// Latency streams of the ports, each over all data cores that serve it.

#include <cstdint>

#include "net/latency_stream.h"

namespace engine {

class LatencyStreams {
 public:
  virtual ~LatencyStreams() = default;

  /// Starts the stream of one port on all its cores; the first one sends. A client port that sends
  /// knows where to (PortState::resolved).
  virtual void start(uint32_t port, const LatencyOptions& options) = 0;
  virtual void set_interval(Nanoseconds interval) = 0;
  /// Stops all; what they measured can still be read.
  virtual void stop() = 0;
  /// Sums over cores, since the last start.
  virtual LatencyReport report(uint32_t port) const = 0;
};

}  // namespace engine
