#pragma once
// The control channels of memif ports: a Unix socket, over which two ends agree on the memory that
// they share, served by a thread of its own.

#include <sys/socket.h>
#include <sys/un.h>

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "io/memif/memory.h"

namespace engine::memif {

/// One end of a memif, as its port is configured.
struct Settings {
  std::string name;  ///< of the port, told to the peer
  bool server = false;
  uint32_t id = 0;  ///< which interface of the socket
  std::string socket = "/run/memif.sock";
  bool abstract = true;  ///< the socket has a name without a file (unix(7))
  uint32_t ring_bits = 10;
  uint32_t buffer_bytes = 2048;
  std::string secret;  ///< "": none
  uint32_t queues = 1;
};

/// What a port's queues know of its peer. Written by the control channel's thread.
class Link {
 public:
  explicit Link(Settings settings) : settings_(std::move(settings)) {}

  const Settings& settings() const { return settings_; }
  /// Grows whenever `memory` becomes another one.
  uint64_t version() const { return version_.load(std::memory_order_acquire); }
  /// What is shared with the peer now; nullptr: there is no peer.
  std::shared_ptr<Memory> memory() const;
  void set(std::shared_ptr<Memory> memory);

 private:
  const Settings settings_;
  std::atomic<uint64_t> version_ = 0;
  mutable std::mutex mutex_;
  std::shared_ptr<Memory> memory_;
};

/// Where a server listens. Throws ConfigError when the name is too long for one.
struct Address {
  sockaddr_un address{};
  socklen_t length;

  Address(const std::string& name, bool abstract);
  const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&address); }
};

/// One control channel.
class MemifChannel;

/// A socket with the links that it serves: as a server all that have its name, as a client one.
class Control {
 public:
  /// The socket that `link` asks for, made or found, with the link in it. Throws ConfigError.
  static std::shared_ptr<Control> with(Link& link);
  ~Control();

  /// Ends the link's channel. From now on nothing here refers to it.
  void leave(Link& link);

 private:
  explicit Control(const Settings& settings);
  void listen();
  void connect();
  void loop();
  void serve(int socket);
  void accept();
  void wake() const;

  const bool server_;
  const std::string name_;  ///< of the socket
  const std::string file_;  ///< "": it has none
  const Address address_;
  int listener_ = -1;
  int wake_ = -1;
  std::atomic<bool> stopping_ = false;
  std::mutex mutex_;  ///< of what follows
  std::map<uint32_t, Link*> links_;
  std::map<int, std::unique_ptr<MemifChannel>> channels_;  ///< by their sockets
  std::string said_;                                       ///< to the user, last
  std::thread thread_;
};

}  // namespace engine::memif
