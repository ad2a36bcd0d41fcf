#include "rpc/control.h"

#include <fmt/format.h>

#include <algorithm>

#include "rpc/method_table.h"
#include "rpc/methods.h"
#include "rpc/ports.h"
#include "rpc/rpc_error.h"

namespace engine {

ControlState::ControlState(const Subjects& engine, const EngineConfig& config)
    : engine(engine),
      ownership(engine.ports.infos().size()),
      profiles(engine, subscribers, budgets.profiles, budgets.runs),
      machine(engine),
      taps(engine.frames, engine.ports.infos().size()),
      captures(engine.clock, taps, budgets),
      pcap_files(engine.clock, engine.frames, taps, config.pcap_folder),
      paced_frames(engine.clock, engine.frames),
      topology(budgets.profiles),
      tunnels(engine.ports, budgets.profiles),
      api_handler(random_handler()),
      multicast(engine.ports.infos().size()) {
  global_config = {{"sched_max_stretch", 0.0}, {"process_at_cp", true}, {"do_mbuf_cache", false}};
  for (uint32_t port = 0; port < engine.ports.infos().size(); ++port)
    link_up.push_back(engine.ports.state(port).link_up);
}

uint32_t ControlState::port_of(const Json& params) const {
  return static_cast<uint32_t>(integer_in(params, "port_id", 0, engine.ports.infos().size() - 1));
}

namespace {

constexpr double kSamplePeriod = 0.5;
/// How long frames that are captured wait in their rings at most.
constexpr double kCollectPeriod = 0.005;

}  // namespace

Control::Control(const Subjects& engine, const EngineConfig& config)
    : state_(engine, config), warnings_(engine.ports) {
  add_system_methods(methods_, state_);
  add_session_methods(methods_, state_);
  add_profile_methods(methods_, state_);
  add_counter_methods(methods_, state_);
  add_machine_methods(methods_, state_);
  add_latency_methods(methods_, state_);
  add_tls_methods(methods_, state_);
  add_port_methods(methods_, state_);
  add_ignored_methods(methods_, state_);
  add_impairment_methods(methods_, state_);
  add_topology_methods(methods_, state_);
  add_tunnel_methods(methods_, state_);
  add_capture_methods(methods_, state_);
  add_pcap_methods(methods_, state_);
  add_sending_methods(methods_, state_);
  methods_.add("get_supported_cmds", Access::reader, {},
               [this](const Json&) -> Json { return methods_.names(); });
}

void Control::handle(std::string_view bytes, Reply reply) {
  const auto call = [this](const std::string& name, const Json& params) {
    return this->call(name, params);
  };
  Waiting message{Exchange(bytes, state_.budgets.replies, call), std::move(reply)};
  if (const std::optional<std::string> answer = message.exchange.advance())
    message.reply(*answer);
  else
    waiting_.push_back(std::move(message));
}

void Control::answer_waiting() {
  for (auto message = waiting_.begin(); message != waiting_.end();) {
    const std::optional<std::string> answer = message->exchange.advance();
    if (answer) message->reply(*answer);
    message = answer ? waiting_.erase(message) : std::next(message);
  }
}

void Control::abandon(const std::string& why) {
  state_.profiles.abandon_starts(why);
  answer_waiting();
}

Outcome Control::call(const std::string& name, const Json& params) {
  const Method* method = methods_.find(name);
  if (method == nullptr) throw unknown_method(name);
  if (method->access != Access::anyone && params.value("api_h", Json()) != state_.api_handler)
    throw refused("API verification failed - API handler provided mismatch for class: 'ASTF'");
  check_parameters(params, method->parameters);
  check_access(*method, params);
  return method->run(params);
}

void Control::check_access(const Method& method, const Json& params) const {
  if (method.access == Access::owner && !state_.ownership.owns(params.at("handler")))
    throw refused("must acquire the context for this operation");
  if (method.access == Access::port_owner &&
      !state_.ownership.owns_port(params.at("handler"), state_.port_of(params)))
    throw refused(fmt::format("must acquire port {} for this operation", state_.port_of(params)));
}

void Control::attempt(const char* what, const std::function<void()>& part) {
  try {
    part();
  } catch (const std::exception& error) {
    std::string failure = fmt::format("{}: {}", what, error.what());
    if (failure == last_failure_) return;
    fmt::print(stderr, "astf-engine: {}\n", failure);
    last_failure_ = std::move(failure);
  }
}

double Control::advance() {
  attempt("profiles", [this] { state_.profiles.advance(); });
  answer_waiting();
  const double now = state_.engine.clock.now();
  attempt("packets to send", [&] { state_.paced_frames.advance(now); });
  if (state_.taps.active()) {
    attempt("captured frames", [this] { state_.taps.collect(); });
    attempt("capture files", [this] { state_.pcap_files.advance(); });
  }
  if (now >= next_sample_) {
    next_sample_ = now + kSamplePeriod;
    attempt("use of ports and cores", [this] { state_.machine.sample(); });
    attempt("rates", [this] { state_.profiles.sample(); });
    attempt("links", [this] { tell_link_changes(); });
    attempt("devices", [this] { warnings_.look(); });
  }
  double patience = std::min(state_.profiles.patience(), state_.paced_frames.patience(now));
  if (state_.taps.active()) patience = std::min(patience, kCollectPeriod);
  if (!waiting_.empty()) patience = std::min(patience, Resolution::kLookPeriod);
  return std::clamp(next_sample_ - now, 0.0, std::max(patience, 0.0));
}

void Control::tell_link_changes() {
  for (uint32_t port = 0; port < state_.link_up.size(); ++port) {
    const bool up = state_.engine.ports.state(port).link_up;
    if (up == state_.link_up[port]) continue;
    state_.link_up[port] = up;
    Json attributes = port_attributes(state_, port);
    attributes.erase("layer_cfg");
    state_.subscribers.publish(Event::port_attributes,
                               {{"port_id", port}, {"attr", std::move(attributes)}},
                               state_.engine.clock.now());
  }
}

}  // namespace engine
