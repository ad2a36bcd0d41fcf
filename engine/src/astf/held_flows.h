#pragma once
// How many flows of a run are to be open, whatever becomes of each: load driven by concurrency.

#include <cstdint>

#include "base/time.h"

namespace engine {

/// The wish of one run on one data core, beside its schedule. Flows that close are replaced at
/// once.
struct HeldFlows {
  uint64_t flows = 0;  ///< 0: none are held
  Nanoseconds since = 0;
  Nanoseconds ramp = 0;   ///< from none to all of them, evenly
  uint64_t opened = 0;    ///< for this wish, replacements among them
  uint64_t refused = 0;   ///< tries that failed; stackcost_get_drops tells why
  Nanoseconds retry = 0;  ///< no try before this

  /// Flows that are to be open at `now`.
  uint64_t wanted(Nanoseconds now) const {
    if (now - since >= ramp) return flows;
    return static_cast<uint64_t>(static_cast<double>(flows) * static_cast<double>(now - since) /
                                 static_cast<double>(ramp));
  }
};

}  // namespace engine
