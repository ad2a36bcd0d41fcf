#pragma once
// What Linux says of a network interface, and of this process's AF_XDP sockets, of which a driver
// does not tell what the kernel refused to send from them.

#include <cstdint>
#include <string>
#include <vector>

#include "net/l2_header.h"

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

/// Descriptors of all that are open, in ascending order.
std::vector<int> xdp_sockets();

/// Frames to send whose descriptors the kernel called invalid (XDP_STATISTICS, if_xdp.h): it takes
/// them from the ring and sends nothing.
uint64_t refused_frames(const std::vector<int>& sockets);

}  // namespace engine
