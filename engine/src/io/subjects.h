#pragma once
// What the control plane can ask of a machine (control/), a file for each subject.

#include <list>
#include <memory>
#include <vector>

#include "control/subjects.h"
#include "io/machine.h"

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

// The machine outlives what is made here.
std::unique_ptr<Cores> make_cores(const Machine& machine);
/// `sender` outlives the machine's data threads.
std::unique_ptr<Frames> make_frames(Machine& machine, FrameSender& sender);
std::unique_ptr<LatencyStreams> make_latency_streams(Machine& machine);
std::unique_ptr<Ports> make_ports(Machine& machine, const Frames& frames);
std::unique_ptr<Runs> make_runs(Machine& machine);

}  // namespace engine
