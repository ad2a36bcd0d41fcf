#pragma once
// Latency streams as the control plane sees them: idle, or running on some ports.

#include <memory>
#include <string>

#include "astf/profile.h"
#include "control/clock.h"
#include "control/config.h"
#include "control/latency_streams.h"
#include "control/ports.h"
#include "rpc/method_table.h"
#include "rpc/resolution.h"

namespace engine {

class LatencyControl {
 public:
  /// Between which addresses (host order); pair k uses each address plus k times its offset.
  struct Addresses {
    uint32_t client = 0;
    uint32_t server = 0;
    uint32_t client_pair_offset = 0;
    uint32_t server_pair_offset = 0;
  };
  static constexpr PortMask kAllPorts = ~PortMask{0};

  LatencyControl(const EngineClock& clock, LatencyStreams& streams, const Ports& ports)
      : clock_(clock), streams_(streams), ports_(ports) {}

  /// `rate`: packets per second and port. `mask`: bit p for port p; the client ports of it know
  /// where to send (Resolution). Throws RpcError when streams run already or a port cannot send.
  void start(const Addresses& addresses, double rate, PortMask mask);
  /// The same, once the client ports know where to send. What is returned throws RpcError when they
  /// do not learn it, or the start is abandoned.
  Later start_when_resolved(const Addresses& addresses, double rate, PortMask mask);
  /// Throws RpcError when none run.
  void update(double rate);
  /// Also ends a start that waits.
  void stop();
  /// Ends a start that waits, with `why` as its error.
  void abandon_start(const std::string& why);
  /// Throws RpcError when streams run, or wait for their ports.
  void check_idle() const;
  /// Counts starts; packets carry it.
  uint8_t epoch() const { return epoch_; }

 private:
  /// A start that waits for its ports.
  struct Start {
    Resolution resolution;
    std::string abandoned{};  ///< why it does not go on
  };

  void check_addresses(const Addresses& addresses) const;

  const EngineClock& clock_;
  LatencyStreams& streams_;
  const Ports& ports_;
  std::shared_ptr<Start> waiting_;
  bool active_ = false;
  uint8_t epoch_ = 0x17;  ///< TRex's first
};

/// The addresses that a profile's streams use: the first of its first client and server ranges.
/// Throws RpcError when it lacks one.
LatencyControl::Addresses latency_addresses(const Profile& profile);

}  // namespace engine
