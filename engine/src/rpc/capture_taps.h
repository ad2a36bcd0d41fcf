#pragma once
// Who looks at the frames that pass the ports.

#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "control/frames.h"

namespace engine {

/// What somebody wants to see.
struct TapRequest {
  std::vector<uint32_t> transmitting;  ///< ports whose sent frames are looked at
  std::vector<uint32_t> receiving;     ///< ports whose received frames are
  std::string filter;                  ///< in the language of tcpdump; empty: all frames
  uint32_t snap_length = 0;            ///< bytes wanted of each frame; 0: all
  uint64_t budget = UINT64_MAX;        ///< frames wanted of each port and core, then no more
};

inline constexpr uint32_t kLongestSnap = UINT16_MAX;  ///< that a client may ask for

/// The beginning of `bytes` that a client asked for with this snap length.
std::span<const uint8_t> snapped(std::span<const uint8_t> bytes, uint32_t snap_length);

/// Shares out what the taps saw among those who asked for it.
class CaptureTaps {
 public:
  using Take = std::function<void(const SeenFrame&)>;
  static constexpr uint32_t kMost = 64;  ///< at once: bits of SeenFrame::taps

  /// `ports`: how many there are.
  CaptureTaps(Frames& frames, size_t ports) : frames_(frames), ports_(ports) {}

  /// Gives `take` what is seen from now on, in `collect`. Returns the tap's number. Throws
  /// RpcError: no filter, too many taps.
  uint32_t begin(const TapRequest& request, Take take);
  /// What was seen until now is given out before.
  void end(uint32_t number);
  /// Gives out what was seen meanwhile, before rings fill up.
  void collect();
  /// Whether somebody looks, so that `collect` is due again soon.
  bool active() const { return !takes_.empty(); }

 private:
  Frames& frames_;
  const size_t ports_;
  std::map<uint32_t, Take> takes_;  ///< by number
};

}  // namespace engine
