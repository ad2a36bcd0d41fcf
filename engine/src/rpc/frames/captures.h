#pragma once
// Captures and queues of received frames: what taps saw, kept until a client fetches it.

#include <deque>
#include <map>
#include <string>
#include <vector>

#include "io/engine.h"
#include "rpc/frames/frame_watches.h"
#include "rpc/protocol/json.h"

namespace engine {

/// What a client wants captured.
struct CaptureRequest {
  std::vector<uint32_t> transmitting;  ///< ports whose sent frames are captured
  std::vector<uint32_t> receiving;     ///< ports whose received frames are
  std::string filter;                  ///< in the language of tcpdump; empty: all frames
  uint64_t limit = 0;                  ///< frames kept
  bool cyclic = false;                 ///< full: the oldest frame goes, not the newest
  uint32_t snap_length = 0;            ///< bytes kept of each frame; 0: all
};

class Captures {
 public:
  static constexpr size_t kMost = 10;                 ///< captures at once, as in TRex
  static constexpr uint64_t kMostFrames = 1'000'000;  ///< in one capture or queue

  Captures(const Engine& engine, FrameWatches& watches) : engine_(engine), watches_(watches) {}

  /// Returns the new capture's id. Throws RpcError: no filter, too many captures.
  uint32_t start(const CaptureRequest& request);
  /// Looks no more, keeps what there is. Returns how many frames that is.
  size_t stop(uint32_t id);
  /// Takes out the oldest frames, at most `most`: result of `capture` with command fetch.
  /// `snap_length`: bytes shown of each, 0: all.
  Json fetch(uint32_t id, size_t most, uint32_t snap_length);
  void remove(uint32_t id);
  Json status();

  /// Queues received frames of a port, the last `size` of them; anew when there was a queue.
  void start_queue(uint32_t port, uint64_t size, const std::string& filter);
  void stop_queue(uint32_t port);
  /// Takes out all that the queue of `port` holds; an empty array when there is none.
  Json take_queue(uint32_t port);
  /// `rx_info.queue` of get_port_status.
  Json queue_status(uint32_t port) const;

  double start_time(uint32_t id) { return find(id).started; }

 private:
  struct Capture {
    CaptureRequest request;
    uint32_t watch = 0;
    double started = 0;
    bool active = true;
    uint64_t matched = 0;
    uint64_t fetched = 0;
    uint64_t bytes = 0;  ///< of `frames`
    std::deque<Json> frames;
  };

  Capture begin(const CaptureRequest& request, FrameWatches::Take take);
  void end(Capture& capture);
  Capture& find(uint32_t id);
  static void keep(Capture& capture, const SeenFrame& seen);

  const Engine& engine_;
  FrameWatches& watches_;
  uint32_t last_id_ = 0;
  std::map<uint32_t, Capture> captures_;  ///< by id
  std::map<uint32_t, Capture> queues_;    ///< by port
};

}  // namespace engine
