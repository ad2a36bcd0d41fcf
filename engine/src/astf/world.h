#pragma once
// The parts of DataCore: what its files share.

#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "astf/core.h"
#include "astf/run.h"
#include "astf/server_table.h"
#include "astf/template_class.h"
#include "flow/context.h"
#include "net/packet.h"
#include "program/interpreter.h"
#include "tcp/tcp.h"

namespace engine {

/// A flow about to be opened.
struct Start {
  uint32_t template_index = 0;
  Nanoseconds intended = 0;  ///< when it was due
  bool prepared = false;
  uint32_t client_range = 0;
  FlowKey key{};
  uint32_t hash = 0;  ///< of `key`
};

struct DataCore::World {
  World(const CoreConfig& config, std::array<TransmitQueue*, kSides> transmit);

  CoreConfig config;
  Context context;
  ServerTable servers;
  std::array<CounterBlock, kSides> table_counters;
  std::array<Drops, kSides> drops;  ///< those that table_counters does not count
  std::array<PortResponder, kSides> responders;
  std::array<LatencyStream, kSides> latency_streams;
  std::vector<std::unique_ptr<ProfileRun>> runs;
  uint32_t closing = 0;  ///< of these, in that phase
  std::vector<uint32_t> free_classes;
  std::vector<std::unique_ptr<UndecidedClass>> undecided;  ///< by order of making
  std::vector<UndecidedClass*> free_undecided;
  Tunables stray_tunables;  ///< for answers to segments of no flow: those of the run attached last
  PortOffsets port_offsets;
  ServiceMode service;
  Ignored ignored;
  AddressRanges disabled_clients;  ///< of all runs; others are forgotten

  // -- receive.cpp
  void receive_for_flows(Side side, std::span<const Frame> frames);
  /// Resets the sender of a segment of no flow, unless it is to be ignored.
  void refuse(Side side, const Frame& frame, const Packet& packet, const tcp::Segment& segment);
  void receive_beside_flows(Side side, const Frame& frame);
  /// `next`: the packet behind one with payload in the burst, when it is of the same flow, else
  /// nullptr.
  void receive_tcp(Side side, const Frame& frame, const Packet& packet, uint32_t hash,
                   const Packet* next);
  void receive_udp(Side side, const Frame& frame, const Packet& packet, uint32_t hash);
  void refuse_undecided(Flow& flow);
  Flow* new_server_flow(const Frame& frame, const Packet& packet, uint32_t hash, bool tcp,
                        bool& refused);

  // -- payload_check.cpp: of flows whose class has one
  /// `segment` has payload and has not been taken yet.
  void check_payload(Flow& flow, const tcp::Segment& segment, const Packet& packet);
  void check_datagram(Flow& flow, const Packet& packet);

  // -- listen.cpp
  /// Has the servers of `run` listen. Throws ProfileError, and nothing has changed, when a port is
  /// taken.
  void listen(ProfileRun& run);
  uint32_t take_number(TemplateClass& shared);
  void give_back_number(uint32_t number);
  /// A class for a flow of which only the port and the address are known. `reference`: any of the
  /// templates in question.
  uint32_t take_undecided(uint32_t reference);
  void give_back_undecided(UndecidedClass& unused);
  /// Makes the flow one of class `number`, now that it is known.
  void decide(Flow& flow, uint32_t number);
  /// `packet` has the flow's first payload: finds its template. False: there is none.
  bool choose_template(Flow& flow, const Packet& packet);

  // -- open.cpp
  /// Starts that are still waiting are given up.
  void stop_opening(ProfileRun& run);
  size_t open_due(ProfileRun& run, Nanoseconds now);
  /// Replaces held flows that closed.
  size_t open_held(ProfileRun& run, Nanoseconds now);
  /// Chooses addresses and ports for the flow that `start` wants. `parent`: the flow that opens it
  /// by exec_template. False: there are none, and why is counted.
  bool prepare(ProfileRun& run, Start& start, const Flow* parent);
  /// Opens a prepared flow; its port is given back when it cannot.
  bool open_flow(ProfileRun& run, const Start& start, Flow* parent);
  /// Identity and class of a new flow, entered into the table under `hash`, of its key. nullptr:
  /// full.
  Flow* make_flow(const FlowKey& key, uint32_t hash, uint32_t flow_class, uint16_t path, Side side,
                  bool with_variables);
  bool add_variables(Flow& flow);
  /// Gives back all that a flow holds; counts it closed.
  void release(Flow& flow);
  /// Ends a flow silently, because its run ends.
  void cut(Flow& flow);
  /// Cuts flows of runs that are closing. Looks at `budget` flows at most; returns at how many.
  size_t cut_flows(size_t budget);
  /// A flow that is about to act. True: it does not, its run is closing, and it is gone.
  bool cut_instead(Flow& flow) {
    if (closing == 0) [[likely]]
      return false;
    if (run_of(flow).phase != RunPhase::closing) return false;
    cut(flow);
    return true;
  }

  // -- execute.cpp
  /// exec_template: opens a flow of the group that the program set.
  void execute(Flow& parent);
  /// `flow` ends: whoever waits for it goes on.
  void unlink(const Flow& flow);
  /// A program opened it, not the schedule: limits do not count it.
  bool executed(const Flow& flow) const {
    return flow.variables != Flow::kNone &&
           context.variables[flow.variables].client_range != VariableBlock::kNone;
  }
  /// From whose pool a client's flow has its port.
  uint32_t client_range_of(const Flow& flow);

  // -- flows
  /// `answered_later`: the flow's next segment is at hand and will be answered for this one too.
  void after_events(Flow& flow, tcp::Events events, bool answered_later);
  void expired(Flow& flow, TimerKind kind);

  /// All of Context::classes are classes of templates: only `take_number` enters any.
  TemplateClass& class_at(uint32_t number) {
    return static_cast<TemplateClass&>(*context.classes[number]);
  }
  TemplateClass& class_of(const Flow& flow) { return class_at(flow.flow_class); }
  ProfileRun& run_of(const Flow& flow) { return *class_of(flow).run; }
  /// Addresses that the runs' clients have on this core.
  AddressRanges clients() const;
};

}  // namespace engine
