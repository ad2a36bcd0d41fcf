#pragma once
// Frames in a file, as tcpdump and Wireshark read it.

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "base/time.h"

namespace engine {

/// A pcap file with time stamps in nanoseconds, link type Ethernet.
class PcapFile {
 public:
  /// Makes the file. Throws std::system_error: it exists, its folder does not, no permission.
  explicit PcapFile(const std::string& path);

  /// `time`: since 1970; `bytes`: the frame's beginning; `wire_length`: of the whole, without FCS.
  void write(Nanoseconds time, std::span<const uint8_t> bytes, uint32_t wire_length);
  /// Hands all that was written to the kernel. False: not all of it could be (errno).
  bool flush();
  /// Bytes of the file so far.
  uint64_t size() const { return size_; }

 private:
  struct Handles;
  struct Close {
    void operator()(Handles* handles) const;
  };

  std::unique_ptr<Handles, Close> handles_;
  uint64_t size_;
};

}  // namespace engine
