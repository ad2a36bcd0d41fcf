#pragma once
// What the flows of one data core share and act upon.

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "base/random.h"
#include "flow/extension.h"
#include "flow/flow.h"
#include "flow/flow_class.h"
#include "flow/flow_table.h"
#include "flow/ipv6_prefixes.h"
#include "flow/path_mtus.h"
#include "flow/pool.h"
#include "flow/time_wait.h"
#include "flow/timer_wheel.h"
#include "net/frame.h"
#include "net/l2_header.h"
#include "net/tcp_header.h"

namespace engine {

struct Context {
  Context(uint32_t max_flows, uint64_t seed, Nanoseconds epoch,
          std::array<TransmitQueue*, kSides> queues,
          const std::array<L2Header, kSides>& port_headers)
      : epoch(epoch),
        random(seed),
        most_flows(std::min(max_flows, FlowTable::kMostFlows)),
        flows(most_flows),
        waits(most_flows),
        extensions(most_flows),
        variables(most_flows),
        prefixes(most_flows),
        tables{FlowTable(flows, waits, prefixes, most_flows, seed),
               FlowTable(flows, waits, prefixes, most_flows, seed)},
        wheel(flows),
        transmit(queues),
        l2_headers{L2HeaderTable(port_headers[0]), L2HeaderTable(port_headers[1])} {}

  Nanoseconds now = 0;
  Tick tick = 0;
  /// TCP's time stamp (RFC 7323) as every sender lays it out, with the option's head, on the wire.
  uint64_t timestamp_option = 0;
  Nanoseconds epoch;  ///< wall-clock time at now = 0
  Random random;
  uint32_t most_flows;  ///< open at once, those in TIME_WAIT among them
  Pool<Flow> flows;
  TimeWaits waits;
  Pool<Extension> extensions;
  Pool<VariableBlock> variables;
  Ipv6Prefixes prefixes;
  std::array<FlowTable, kSides> tables;
  TimerWheel wheel;
  std::array<TransmitQueue*, kSides> transmit;
  std::array<L2HeaderTable, kSides> l2_headers;
  Tick challenges_since = 0;  ///< challenge ACKs are counted from then on, RFC 5961 section 10
  uint32_t challenges = 0;
  PathMtus path_mtus;
  std::vector<FlowClass*> classes;  ///< by Flow::flow_class; nullptr: number not in use

  void set_time(Nanoseconds time) {
    now = time;
    tick = tick_of(time);
    // Milliseconds (2^20 ns), from a base that goes on over restarts, so that a peer's PAWS check
    // and its TIME_WAIT accept a new connection from the same port (RFC 7323 section 5.4).
    const auto timestamp = static_cast<uint32_t>((epoch + time) >> 20);
    store_be<uint64_t>(&timestamp_option, uint64_t{tcp::kAlignedTimestamps} << 32 | timestamp);
  }
  /// Connections that are open, those in TIME_WAIT among them.
  uint32_t open_flows() const { return flows.in_use() + waits.in_use(); }
  /// An entry of a flow table is going to be looked at; it may be none. Returns the flow, if it is
  /// one. Always inlined: GCC takes a call of a function that only prefetches for one that does
  /// nothing, and leaves it out.
  [[gnu::always_inline]] Flow* prefetch(uint32_t entry) {
    if (!FlowTable::is_flow(entry)) {
      if (entry != FlowTable::kNone) __builtin_prefetch(&waits[FlowTable::wait_of(entry)]);
      return nullptr;
    }
    Flow& flow = flows[entry];
    const auto* lines = reinterpret_cast<const char*>(&flow);
    __builtin_prefetch(lines);
    __builtin_prefetch(lines + 64);
    __builtin_prefetch(lines + 128);
    return &flow;
  }
  /// The same of an entry's identity alone.
  [[gnu::always_inline]] void prefetch_identity(uint32_t entry) {
    if (FlowTable::is_flow(entry))
      __builtin_prefetch(&flows[entry]);
    else if (entry != FlowTable::kNone)
      __builtin_prefetch(&waits[FlowTable::wait_of(entry)]);
  }
  FlowClass& class_of(const Flow& flow) { return *classes[flow.flow_class]; }
  static Side side_of(const Flow& flow) {
    return flow.has(kServerSide) ? Side::server : Side::client;
  }

  IpAddress remote_of(const FlowIdentity& flow) const {
    return flow.ipv6() ? prefixes.remote(flow.prefixes, flow.remote_low32())
                       : IpAddress::v4(flow.remote_low32());
  }
  IpAddress local_of(const FlowIdentity& flow) const {
    return flow.ipv6() ? prefixes.local(flow.prefixes, flow.local_low32())
                       : IpAddress::v4(flow.local_low32());
  }

  /// The flow's extension, made when it has none. There is one for every flow of the pool.
  Extension& extend(Flow& flow) {
    if (flow.extension == Flow::kNone) {
      flow.extension = extensions.take();
      extensions[flow.extension].reset();
      flow.clear(kFastPath);
    }
    return extensions[flow.extension];
  }
  /// Gives a flow the variables of its program. There is a block for every flow of the pool.
  void add_variables(Flow& flow) {
    flow.variables = variables.take();
    variables[flow.variables] = {};
  }
  /// nullptr: it has none.
  Extension* extension_of(const Flow& flow) {
    return flow.extension == Flow::kNone ? nullptr : &extensions[flow.extension];
  }
};

}  // namespace engine
