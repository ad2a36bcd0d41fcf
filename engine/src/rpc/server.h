#pragma once
// The control plane's sockets: ZeroMQ ROUTER for requests, PUB for the doorbell.

#include <atomic>
#include <memory>

#include "control/config.h"
#include "control/subjects.h"

namespace engine {

/// Serves TRex's JSON-RPC to ASTF clients and drives the engine on their behalf, on one thread.
class RpcServer {
 public:
  /// Binds both sockets. Throws ConfigError naming address, port and hint. The engine outlives
  /// this.
  RpcServer(const Subjects& engine, const EngineConfig& config);
  ~RpcServer();

  /// Serves until `stop` is set (a signal handler may do so) or a client asks for shutdown.
  void run(const std::atomic<bool>& stop);

 private:
  struct Implementation;
  std::unique_ptr<Implementation> implementation_;
};

}  // namespace engine
