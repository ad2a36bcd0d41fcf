#pragma once
// Frames that the control thread wants sent.

#include <list>
#include <vector>

#include "io/data_thread.h"

namespace engine {

/// Has a data thread send whole frames, and keeps them until their port refers to them no more.
class FrameSender {
 public:
  using Bytes = std::vector<uint8_t>;

  /// Sends `frames`, each from its Ethernet header on and without FCS, as they are. Returns how
  /// many the device took.
  size_t send(DataThread& thread, Side side, std::vector<Bytes> frames);

 private:
  struct Batch {
    DataThread& thread;
    Side side;
    uint64_t last;  ///< number of frames sent on the port with the last of these
    std::vector<Bytes> frames;
  };

  void forget_arrived();

  std::list<Batch> batches_;
};

}  // namespace engine
