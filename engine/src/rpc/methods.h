#pragma once
// All methods, by subject. What they are made of, and the format of messages: protocol/.

#include "rpc/control_state.h"
#include "rpc/protocol/method_table.h"
#include "rpc/protocol/rpc_error.h"

namespace engine {

// Each adds the methods of one subject.
void add_system_methods(MethodTable& methods, ControlState& state);
void add_refused_methods(MethodTable& methods);

// session/: who asks, who owns the context, what is told to whom
void add_session_methods(MethodTable& methods, ControlState& state);

// profile/: profiles from upload to the end of their runs
void add_profile_methods(MethodTable& methods, ControlState& state);
void add_run_methods(MethodTable& methods, ControlState& state);
void add_client_methods(MethodTable& methods, ControlState& state);
void add_payload_methods(MethodTable& methods, ControlState& state);

// statistics/: counters, rates, and what the engine itself uses
void add_statistics_methods(MethodTable& methods, ControlState& state);
void add_group_methods(MethodTable& methods, ControlState& state);
void add_resource_methods(MethodTable& methods, ControlState& state);

// latency/: latency streams, and how long flows took
void add_latency_methods(MethodTable& methods, ControlState& state);
void add_flow_latency_methods(MethodTable& methods, ControlState& state);

// network/: ports, the topology behind them, and what it does to frames
void add_port_methods(MethodTable& methods, ControlState& state);
void add_topology_methods(MethodTable& methods, ControlState& state);
void add_impairment_methods(MethodTable& methods, ControlState& state);

// frames/: single frames: seen, kept, written, sent
void add_service_methods(MethodTable& methods, ControlState& state);
void add_capture_methods(MethodTable& methods, ControlState& state);
void add_pcap_methods(MethodTable& methods, ControlState& state);
void add_send_methods(MethodTable& methods, ControlState& state);

}  // namespace engine
