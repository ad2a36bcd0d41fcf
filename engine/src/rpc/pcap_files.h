#pragma once
// Files of what ports send and receive.

#include <map>
#include <string>

#include "capture/pcap_file.h"
#include "control/clock.h"
#include "control/frames.h"
#include "json/json_text.h"
#include "rpc/capture_taps.h"

namespace engine {

/// One file at a time for each port, in the folder that whoever started the engine gave. Written by
/// the control thread; frames that come faster than it writes are lost to the file, and counted.
class PcapFiles {
 public:
  /// What a client wants written.
  struct Request {
    uint32_t port = 0;
    std::string name;  ///< of the file, in the folder
    std::string filter;
    uint32_t snap_length = 0;
    uint64_t limit_bytes = 0;  ///< the file grows no longer
  };

  /// `folder` empty: none was given.
  PcapFiles(const EngineClock& clock, const Frames& frames, CaptureTaps& taps,
            const std::string& folder)
      : clock_(clock), frames_(frames), taps_(taps), folder_(folder) {}

  /// Begins a file; returns its status. Throws RpcError: no folder, a name that leads elsewhere, a
  /// file that cannot be made, a port that already has one.
  Json start(const Request& request);
  /// Ends and closes the file; returns its last status. Throws RpcError: there is none.
  Json stop(uint32_t port);
  /// Of every port that has a file.
  Json status() const;
  /// After frames were collected: has them in the kernel's hands, ends files that are full.
  void advance();

 private:
  struct Writing {
    Request request;
    std::string path;
    PcapFile file;
    uint32_t tap = 0;
    Nanoseconds epoch;       ///< wall-clock time at engine time 0
    uint64_t unseen_before;  ///< frames of the port lost to captures before this one
    bool active = true;
    bool full = false;
    uint64_t frames = 0;
    std::string error = {};
  };

  /// Makes the file; nothing is looked at yet.
  Writing open(const Request& request, const std::string& path) const;
  static void keep(Writing& writing, const SeenFrame& seen);
  void end(Writing& writing);
  Json status_of(const Writing& writing) const;

  const EngineClock& clock_;
  const Frames& frames_;
  CaptureTaps& taps_;
  const std::string folder_;
  std::map<uint32_t, Writing> files_;  ///< by port
};

}  // namespace engine
