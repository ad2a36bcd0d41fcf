#pragma once
// Single frames: those that pass the ports and somebody looks at, and those that a client sends.

#include <cstdint>
#include <functional>
#include <vector>

#include "astf/ignored.h"
#include "astf/service.h"
#include "capture/frame_copier.h"

namespace engine {

class Frames {
 public:
  virtual ~Frames() = default;

  /// Has the frames of a port looked at, until `remove_tap`; what is seen waits for `read_seen`.
  virtual void add_tap(uint32_t port, const CaptureTap& tap) = 0;
  virtual void remove_tap(uint32_t number) = 0;
  /// Hands over what was seen: in order of time for each direction of a port and core.
  virtual void read_seen(const std::function<void(const SeenFrame&)>& take) = 0;
  /// Frames that were looked for, and lost because `read_seen` was not called in time.
  virtual uint64_t unseen(uint32_t port) const = 0;
  /// Sends whole frames, from their Ethernet header on, as they are. Returns how many the device
  /// took.
  virtual size_t send(uint32_t port, std::vector<std::vector<uint8_t>> frames) = 0;
  /// What is kept from flows on all ports, for the slow path.
  virtual void set_service(const ServiceMode& mode) = 0;
  /// Whom packets of no flow are not answered, on all ports.
  virtual void set_ignored(const Ignored& ignored) = 0;
};

}  // namespace engine
