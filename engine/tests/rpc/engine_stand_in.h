#pragma once
// An engine without ports, threads and clock, so that the control plane is tested alone: time
// stands still until a test moves it, flows are numbers. It implements what the control plane asks,
// a class for each subject.

#include <array>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "control/config.h"
#include "control/subjects.h"

namespace engine {

/// Scripts the stand-in and tells what the control plane asked of it.
class EngineStandIn {
 public:
  EngineStandIn();
  ~EngineStandIn();

  Subjects subjects();

  std::function<double()> clock = [this] { return now; };
  double now = 0;                               ///< seconds
  Nanoseconds epoch = 1'700'000'000 * kSecond;  ///< wall-clock time then
  double drain_s = 0;              ///< how long flows stay open once no more are opened
  uint64_t open_flows = 10;        ///< client flows while opening and draining
  uint64_t lingering_servers = 0;  ///< server flows left when the client flows are gone
  bool establishes = true;
  bool closes = true;       ///< a run that is to be closed is, at once; else it stays open
  RunMemory run_memory;     ///< of every run
  std::string start_error;  ///< start throws ProfileError with this text
  std::vector<std::string> run_notices;  ///< of every run
  std::vector<std::string> calls;        ///< of what changes something, in order; runs by number
  std::array<PortState, 2> ports;
  std::array<CounterBlock, kSides> table;
  uint64_t assumed_tags = 0;  ///< on each port
  uint64_t refused = 0;       ///< frames that each port's device took and did not send

  struct Passing {
    uint32_t port = 0;
    bool transmitted = false;
    std::vector<uint8_t> bytes;
  };
  /// Frames pass the ports now. Those that somebody watches for wait in the port's ring, as in the
  /// engine itself, until they are read.
  void pass(const std::vector<Passing>& frames);
  /// Whether somebody watches any port.
  bool watched() const;
  std::map<uint32_t, FrameCopier> copiers;  ///< by port
  std::array<uint64_t, 2> unseen{};         ///< frames that found a ring full, by port

  /// Called first of all by every call that the data cores carry out, with the call's name. It may
  /// move the time, have frames pass, or throw.
  std::function<void(const std::string& call)> on_call = [](const std::string&) {};
  std::vector<std::pair<uint32_t, std::vector<uint8_t>>> sent;  ///< port and frame
  /// By port and direction.
  std::map<std::pair<uint32_t, Direction>, ImpairmentSettings> impairments;
  bool tunnels_active = false;
  bool tunnels_loopback = false;
  std::shared_ptr<const Tunnels> tunnels;
  std::string no_tunnels;  ///< why there can be none
  ServiceMode service;
  Ignored ignored;
  ClientAddresses clients;
  std::vector<std::vector<tcp::Info>> sampled_flows;  ///< by core
  std::string tls_keys;

  struct Run {
    std::shared_ptr<const Profile> profile;
    RunOptions options;
    uint32_t client_mask = 0;
    double started = 0;
    double stopped = -1;  ///< by stop_opening
    bool closed = false;
  };
  std::map<int, Run> runs;                     ///< by number: the lowest that is free, from 1 on
  std::map<uint32_t, LatencyOptions> latency;  ///< by port, as started last
  LatencyReport latency_report;                ///< of every port

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace engine
