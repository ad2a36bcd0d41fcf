#pragma once
// Who opens flows: the schedule, a number of flows that is to be held, and programs
// (exec_template).

#include <span>

#include "astf/open_flows.h"
#include "astf/table_counts.h"

namespace engine {

class Opener {
 public:
  Opener(Context& context, Classes& classes, OpenFlows& flows, TableCounts& counts)
      : context_(context), classes_(classes), flows_(flows), counts_(counts) {}

  /// Opens the flows of `run` that are due. Returns how many were.
  size_t open_due(ProfileRun& run, Nanoseconds now);
  /// Starts that are still waiting are given up.
  void stop(ProfileRun& run);
  /// exec_template: opens a flow of the group that the program of `parent` set. The client's
  /// address is kept, and the program goes on when that flow has ended.
  void execute(Flow& parent);

  /// Clients that open no flows, of all runs; addresses of no run are left out.
  AddressRanges disabled_clients;

 private:
  /// A flow about to be opened.
  struct Start {
    uint32_t template_index;
    Nanoseconds intended;  ///< when it was due
    bool opened;
    uint32_t client_range;
    IpAddress remote;
    IpAddress local;
    FlowKey key;  ///< of these
  };

  /// Replaces held flows that closed.
  size_t open_held(ProfileRun& run, Nanoseconds now);
  /// Opens the flows that `starts` want, as far as it can, which they then tell. `parent`: the flow
  /// that opens them by exec_template.
  void open(ProfileRun& run, std::span<Start> starts, Flow* parent);
  /// Chooses addresses and ports for a flow. False: there are none, and why is counted.
  bool prepare(ProfileRun& run, Start& start, const Flow* parent);
  /// Opens a prepared flow; its port is given back when it cannot.
  bool open_flow(ProfileRun& run, const Start& start, Flow* parent);

  Context& context_;
  Classes& classes_;
  OpenFlows& flows_;
  TableCounts& counts_;
};

}  // namespace engine
