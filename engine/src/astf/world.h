#pragma once
// The parts of DataCore: what its files share.

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "astf/core.h"
#include "astf/run.h"
#include "astf/server_table.h"
#include "flow/context.h"
#include "net/packet.h"
#include "program/interpreter.h"
#include "tcp/tcp.h"

namespace engine {

struct DataCore::World {
  World(const CoreConfig& config, std::array<TransmitQueue*, kSides> transmit);

  CoreConfig config;
  Context context;
  ServerTable servers;
  std::array<CounterBlock, kSides> table_counters;
  std::array<PortResponder, kSides> responders;
  std::vector<std::unique_ptr<ProfileRun>> runs;
  std::vector<uint32_t> free_classes;
  Tunables stray_tunables;  ///< for answers to segments of no flow: those of the run attached last
  PortOffsets port_offsets;

  // -- receive.cpp
  void receive_tcp(Side side, const Frame& frame, const Packet& packet, uint32_t hash);
  void receive_udp(Side side, const Frame& frame, const Packet& packet, uint32_t hash);
  Flow* new_server_flow(const Frame& frame, const Packet& packet, bool tcp, bool& refused);

  // -- open.cpp
  size_t open_due(ProfileRun& run, Nanoseconds now);
  bool open_flow(ProfileRun& run, uint32_t index, Nanoseconds intended);
  /// Identity and class of a new flow, entered into the table. nullptr: full.
  Flow* make_flow(const FlowKey& key, uint32_t flow_class, uint16_t path, Side side);
  /// Gives back all that a flow holds; counts it closed.
  void release(Flow& flow);
  /// Ends a flow silently, because its run ends.
  void cut(Flow& flow);

  // -- flows
  void after_events(Flow& flow, tcp::Events events);
  void expired(Flow& flow, TimerKind kind);

  ProfileRun& run_of(const Flow& flow) {
    return *static_cast<ProfileRun*>(context.class_of(flow).run);
  }
  ProfileRun* find(const std::string& id) const;
};

}  // namespace engine
