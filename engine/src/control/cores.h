#pragma once
// Data cores as the control plane sees them: what they use of the CPU and of memory.

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "stats/pool_status.h"

namespace engine {

/// CPU use of one data core since start; cycles of the time-stamp counter. Busy is the time from
/// the moment a pass of the loop finds something to do to its end; the rest is idle polling.
/// Of busy, copying is the part in which payload was copied into packets, and sending the part in
/// which ports' devices took frames.
struct CoreCycles {
  uint32_t core = 0;  ///< data core number
  uint32_t cpu = 0;   ///< Linux CPU it is pinned to
  uint32_t pair = 0;  ///< port pair it serves
  uint64_t total = 0;
  uint64_t busy = 0;
  uint64_t copying = 0;
  uint64_t sending = 0;
};

class Cores {
 public:
  virtual ~Cores() = default;

  virtual uint32_t count() const = 0;
  virtual uint32_t count_per_pair() const = 0;
  virtual std::vector<CoreCycles> cycles() const = 0;
  virtual uint64_t tsc_hz() const = 0;
  /// Of all data cores together; last the packet buffers of all ports.
  virtual std::vector<PoolStatus> memory() const = 0;
  /// Packet buffers by the bytes that one holds: how many are free, and how many there are.
  virtual std::map<uint32_t, std::pair<uint64_t, uint64_t>> buffers() const = 0;
};

}  // namespace engine
