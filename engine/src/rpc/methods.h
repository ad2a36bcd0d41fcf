#pragma once
// All methods, by subject. What they are made of, and the format of messages: protocol/.

#include "rpc/control_state.h"
#include "rpc/protocol/method_table.h"
#include "rpc/protocol/rpc_error.h"

namespace engine {

// Each adds the methods of one subject.
/// The server as a whole, and what it refuses.
void add_system_methods(MethodTable& methods, ControlState& state);
/// Who asks, who owns the context, what is told to whom.
void add_session_methods(MethodTable& methods, ControlState& state);
/// Profiles, from their upload to the end of their runs.
void add_profile_methods(MethodTable& methods, ControlState& state);
/// Counters and rates, of profiles and of the engine itself.
void add_statistics_methods(MethodTable& methods, ControlState& state);
/// Latency: of streams, and of flows.
void add_latency_methods(MethodTable& methods, ControlState& state);
/// Ports, the topology behind them, and what it does to frames.
void add_network_methods(MethodTable& methods, ControlState& state);
/// Single frames: seen, kept, written, sent.
void add_frame_methods(MethodTable& methods, ControlState& state);

}  // namespace engine
