#include "rpc/control_state.h"

#include "rpc/protocol/parameters.h"

namespace engine {

ControlState::ControlState(const Subjects& engine, const EngineConfig& config)
    : engine(engine),
      ownership(engine.ports.infos().size()),
      profiles(engine, sessions, budgets.profiles),
      machine(engine),
      watches(engine.frames, engine.ports.infos().size()),
      captures(engine.clock, watches, budgets),
      pcap_files(engine.clock, engine.frames, watches, config.pcap_folder),
      paced_frames(engine.clock, engine.frames),
      topology(budgets.profiles),
      api_handler(random_handler()),
      multicast(engine.ports.infos().size()) {
  global_config = {{"sched_max_stretch", 0.0}, {"process_at_cp", true}, {"do_mbuf_cache", false}};
  for (uint32_t port = 0; port < engine.ports.infos().size(); ++port)
    link_up.push_back(engine.ports.state(port).link_up);
}

uint32_t ControlState::port_of(const Json& params) const {
  return static_cast<uint32_t>(integer_in(params, "port_id", 0, engine.ports.infos().size() - 1));
}

}  // namespace engine
