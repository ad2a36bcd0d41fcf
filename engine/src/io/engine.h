#pragma once
// The engine below the control plane: ports and data threads, and what can be asked of them.

#include <memory>
#include <string>
#include <vector>

#include "control/config.h"
#include "control/subjects.h"

namespace engine {

class Engine {
 public:
  /// Opens the ports and starts the data threads. Throws ConfigError with cause and hint.
  explicit Engine(const EngineConfig& config);
  ~Engine();

  /// What the user should know of how it started, a line each; the configuration's notices among
  /// them.
  const std::vector<std::string>& notices() const;
  /// What can be asked of it while it lives.
  Subjects subjects();

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace engine
