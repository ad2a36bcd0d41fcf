#pragma once
// Latency streams as the control plane sees them: idle, or running on some ports.

#include "astf/profile.h"
#include "control/config.h"
#include "control/latency_streams.h"
#include "control/ports.h"

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

  LatencyControl(LatencyStreams& streams, const Ports& ports) : streams_(streams), ports_(ports) {}

  /// `rate`: packets per second and port. `mask`: bit p for port p. Throws RpcError when streams
  /// run already or a port cannot send.
  void start(const Addresses& addresses, double rate, PortMask mask);
  /// Throws RpcError when none run.
  void update(double rate);
  void stop();
  /// Throws RpcError when streams run.
  void check_idle() const;
  /// Counts starts; packets carry it.
  uint8_t epoch() const { return epoch_; }

 private:
  LatencyStreams& streams_;
  const Ports& ports_;
  bool active_ = false;
  uint8_t epoch_ = 0x17;  ///< TRex's first
};

/// The addresses that a profile's streams use: the first of its first client and server ranges.
/// Throws RpcError when it lacks one.
LatencyControl::Addresses latency_addresses(const Profile& profile);

}  // namespace engine
