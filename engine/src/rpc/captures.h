#pragma once
// Captures and queues of received frames: what taps saw, kept until a client fetches it.

#include <deque>
#include <map>
#include <string>
#include <vector>

#include "control/clock.h"
#include "json/json_text.h"
#include "rpc/budgets.h"
#include "rpc/capture_taps.h"

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

/// Any client may have frames captured, so all captures and queues together keep no more bytes than
/// the budget has. A capture that gets none loses its newest frames, or a cyclic one its oldest,
/// and counts them.
class Captures {
 public:
  static constexpr size_t kMost = 10;                 ///< captures at once, as in TRex
  static constexpr uint64_t kMostFrames = 1'000'000;  ///< in one capture or queue

  Captures(const EngineClock& clock, CaptureTaps& taps, Budgets& budgets)
      : clock_(clock), taps_(taps), budgets_(budgets) {}

  /// Returns the new capture's id. Throws RpcError: no filter, too many captures, no memory for so
  /// many frames even if they are short.
  uint32_t start(const CaptureRequest& request);
  /// Looks no more, keeps what there is. Returns how many frames that is.
  size_t stop(uint32_t id);
  /// Takes out the oldest frames, at most `most` and no more than the answer has room for: result
  /// of `capture` with command fetch. `snap_length`: bytes shown of each, 0: all. Throws RpcError
  /// when there is no room for one.
  Json fetch(uint32_t id, size_t most, uint32_t snap_length);
  void remove(uint32_t id);
  Json status();

  /// Queues received frames of a port, the last `size` of them; anew when there was a queue.
  void start_queue(uint32_t port, uint64_t size, const std::string& filter);
  void stop_queue(uint32_t port);
  /// Takes out what the queue of `port` holds, as much as the answer has room for; an empty array
  /// when there is no queue. Throws RpcError when there is no room for one frame.
  Json take_queue(uint32_t port);
  /// `rx_info.queue` of get_port_status.
  Json queue_status(uint32_t port) const;

  double start_time(uint32_t id) { return find(id).started; }

 private:
  struct KeptFrame {
    Nanoseconds time;
    uint64_t index;
    uint32_t port;
    uint32_t wire_length;
    bool transmitted;
    std::vector<uint8_t> bytes;
  };
  struct Capture {
    CaptureRequest request;
    Charge memory;
    uint32_t tap = 0;
    double started = 0;
    bool active = true;
    uint64_t matched = 0;
    uint64_t fetched = 0;
    uint64_t without_memory = 0;  ///< frames lost since the budget had no bytes left
    uint64_t wire_bytes = 0;      ///< of `frames`
    std::deque<KeptFrame> frames = {};
  };
  using CaptureMap = std::map<uint32_t, Capture>;

  /// Adds a capture under `key` and has it look.
  Capture& begin(CaptureMap& captures, uint32_t key, const CaptureRequest& request);
  void end(Capture& capture);
  Capture& find(uint32_t id);
  static void keep(Capture& capture, const SeenFrame& seen);
  static void drop_oldest(Capture& capture);
  Json take(Capture& capture, size_t most, uint32_t snap_length) const;

  const EngineClock& clock_;
  CaptureTaps& taps_;
  Budgets& budgets_;
  uint32_t last_id_ = 0;
  CaptureMap captures_;  ///< by id
  CaptureMap queues_;    ///< by port
};

}  // namespace engine
