#pragma once
// Ports and data threads, put together as the configuration says.

#include "control/config.h"
#include "io/clock.h"
#include "io/data_thread.h"
#include "io/port.h"

namespace engine {

/// The side that a port plays in its pair.
constexpr Side side_of(uint32_t port) {
  return port % 2 == 0 ? Side::client : Side::server;
}

/// Data thread t serves port pair t mod pairs, as that pair's core number t / pairs.
class Machine {
 public:
  /// Opens the ports and starts the threads. Throws ConfigError.
  explicit Machine(const EngineConfig& config);

  size_t pairs() const { return ports_.size() / 2; }
  size_t ports() const { return ports_.size(); }
  Port& port(uint32_t number) const { return *ports_.at(number); }
  /// A port's description and addresses as configured, its own MAC filled in.
  const std::vector<PortInfo>& infos() const { return infos_; }
  const PortAddress& configured(uint32_t port) const { return config_.ports.at(port).address; }

  const std::vector<std::unique_ptr<DataThread>>& threads() const { return threads_; }
  /// Data threads that serve a port.
  std::vector<DataThread*> threads_of(uint32_t port) const;
  /// The port of data thread number `thread` on `side`.
  uint32_t port_of(size_t thread, Side side) const {
    return static_cast<uint32_t>(thread % pairs() * 2 + index_of(side));
  }

  /// Whether any port sends payload by reference (Port::refers_to_payload).
  bool refers_to_payload() const;

  const Clock& clock() const { return clock_; }
  const std::vector<std::string>& notices() const { return config_.notices; }

 private:
  void open_ports();
  void fill_in_addresses();
  /// Has a port receive what is for its configured address, or notes that it cannot be told.
  void tell_address(uint32_t number);
  void start_threads();

  EngineConfig config_;
  Clock clock_;
  bool with_dpdk_ = false;
  std::vector<std::unique_ptr<Port>> ports_;
  std::vector<PortInfo> infos_;
  std::vector<std::unique_ptr<DataThread>> threads_;  ///< after the ports, so that they end first
};

}  // namespace engine
