#pragma once
// What Linux says of a network interface.

#include <string>

#include "net/path.h"

namespace engine {

/// An interface of the network namespace that the engine runs in, at the moment of the call.
class LinuxInterface {
 public:
  /// Throws ConfigError when it is not there or not up.
  explicit LinuxInterface(std::string name);
  ~LinuxInterface();
  LinuxInterface(const LinuxInterface&) = delete;
  LinuxInterface& operator=(const LinuxInterface&) = delete;

  const std::string& name() const { return name_; }
  int index() const;
  MacAddress mac() const;
  uint32_t mtu() const;
  /// Up, and its carrier is there.
  bool running() const;

 private:
  std::string name_;
  int socket_;
};

}  // namespace engine
