#pragma once
// What a user should know of the ports' devices while they are in use, said on standard error.

#include <cstdint>
#include <vector>

#include "control/ports.h"

namespace engine {

class DeviceWarnings {
 public:
  explicit DeviceWarnings(const Ports& ports) : ports_(ports), told_(ports.infos().size()) {}

  /// Says what is new since the last look. What grows is said again when it has doubled.
  void look();

 private:
  struct Told {
    uint64_t refused = 0;  ///< frames
    bool assumed_tags = false;
  };

  const Ports& ports_;
  std::vector<Told> told_;  ///< by port
};

}  // namespace engine
