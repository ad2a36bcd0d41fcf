#include "rpc/profiles.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "rpc/rpc_error.h"

namespace engine {

namespace {

/// Names the states in which a command is allowed.
RpcError invalid_state(ProfileState state, const std::string& allowed) {
  return refused(std::string("Invalid state: ") + name_of(state) + ", should be " + allowed);
}

constexpr const char* kAtRest = "one of following:Idle,Loaded profile";

bool at_rest(const ProfileSlot& slot) {
  return slot.state == ProfileState::idle || slot.state == ProfileState::loaded;
}

}  // namespace

ProfileTable::ProfileTable(const Subjects& engine, RpcSubscribers& subscribers, ByteBudget& budget,
                           ByteBudget& run_budget)
    : clock_(engine.clock),
      ports_(engine.ports),
      runs_(engine.runs),
      subscribers_(subscribers),
      budget_(budget),
      run_budget_(run_budget),
      latency_(engine.clock, engine.latency, engine.ports) {
  added(kDefault);
}

ProfileSlot& ProfileTable::added(const std::string& id) {
  if (id.empty() || id.size() > kLongestId)
    throw bad_parameters(fmt::format("parameter 'profile_id' must have 1 to {} bytes", kLongestId));
  if (profiles_.size() >= kMost)
    throw refused(fmt::format("there are {} profiles: clear one first (profile_clear)", kMost));
  ProfileSlot slot(budget_, run_budget_);
  slot.kept.grow(slot.own_bytes(), "a profile");
  return profiles_.emplace(id, std::move(slot)).first->second;
}

const ProfileSlot& ProfileTable::find(const std::string& id) const {
  const auto found = profiles_.find(id);
  if (found == profiles_.end()) throw refused("Invalid profile : " + id);
  return found->second;
}

ProfileSlot& ProfileTable::slot(const std::string& id) {
  return const_cast<ProfileSlot&>(find(id));
}

bool ProfileTable::upload(const std::string& id, const std::string& fragment, bool first, bool last,
                          const std::string& md5) {
  if (first && !profiles_.contains(id)) set_state(id, added(id), ProfileState::idle);
  ProfileSlot& slot = this->slot(id);
  if (!at_rest(slot)) throw invalid_state(slot.state, kAtRest);
  if (first) {
    if (slot.state == ProfileState::loaded && !md5.empty() && md5 == slot.source.md5) {
      slot.tls.clear();  // as by an upload
      slot.payload_check = {};
      return true;
    }
    slot.source.upload.begin();
    slot.source.upload_md5 = md5;
    if (slot.state == ProfileState::loaded) set_state(id, slot, ProfileState::idle);
  }
  slot.source.upload.add(fragment);
  if (!last) return false;

  ProfileSlot loaded(budget_, run_budget_);
  loaded.kept = std::move(slot.kept);
  loaded.source.text = slot.source.upload.take();
  loaded.kept.set(loaded.own_bytes());  // as much as the upload took
  loaded.source.md5 = std::move(slot.source.upload_md5);
  loaded.epoch = slot.epoch + 1;
  slot = std::move(loaded);
  set_state(id, slot, ProfileState::loaded);
  return false;
}

void ProfileTable::drop_uploads() {
  for (auto& [id, slot] : profiles_) slot.source.upload.drop();
}

void ProfileTable::start(const std::string& id, const StartOptions& options) {
  ProfileSlot& slot = this->slot(id);
  if (slot.state != ProfileState::loaded)
    throw invalid_state(slot.state, name_of(ProfileState::loaded));
  if (options.latency_rate > 0) latency_.check_idle();
  slot.options = options;
  PortMask senders = options.latency_rate > 0 ? LatencyControl::kAllPorts : 0;
  if (!options.topology) senders |= options.client_mask;
  slot.resolution.emplace(ports_, senders & client_ports(ports_));
  const bool parsed = slot.source.parsed && slot.source.ipv6 == options.ipv6;
  set_state(id, slot, parsed ? ProfileState::build : ProfileState::parse);
}

void ProfileTable::stop(const std::string& id) {
  ProfileSlot& slot = this->slot(id);
  if (slot.state == ProfileState::transmit)
    begin_cleanup(id, slot);
  else
    abandon_start(id, slot, "it was stopped before its run began");
}

void ProfileTable::abandon_start(const std::string& id, ProfileSlot& slot, const std::string& why) {
  if (slot.state == ProfileState::parse || slot.state == ProfileState::build)
    refuse_run(id, slot, why);
}

void ProfileTable::abandon_starts(const std::string& why) {
  for (auto& [id, slot] : profiles_) abandon_start(id, slot, why);
  latency_.abandon_start(why);
}

void ProfileTable::update(const std::string& id, double multiplier) {
  ProfileSlot& slot = this->slot(id);
  if (slot.state != ProfileState::transmit)
    throw invalid_state(slot.state, name_of(ProfileState::transmit));
  slot.handle->set_multiplier(multiplier);
  slot.options.multiplier = multiplier;
}

void ProfileTable::hold(const std::string& id, uint64_t flows, double ramp_s) {
  ProfileSlot& slot = this->slot(id);
  if (slot.state != ProfileState::transmit)
    throw invalid_state(slot.state, name_of(ProfileState::transmit));
  slot.handle->hold(flows, static_cast<Nanoseconds>(ramp_s * kSecond));
}

void ProfileTable::clear(const std::string& id) {
  ProfileSlot& slot = this->slot(id);
  if (!at_rest(slot)) throw invalid_state(slot.state, kAtRest);
  if (slot.state == ProfileState::loaded) {
    slot.deletion.since = clock_.now();
    slot.deletion.told.reset();
    set_state(id, slot, ProfileState::remove);
  } else if (remove(id, slot)) {
    profiles_.erase(id);
  }
}

void ProfileTable::advance_epoch() {
  if (is_transient(state_)) throw invalid_state(state_, kAtRest);
  ++epoch_;
}

std::vector<std::string> ProfileTable::group_names(const std::string& id) {
  const auto found = profiles_.find(id);
  if (found == profiles_.end()) return {};
  ProfileSlot& slot = found->second;
  if (!slot.source.parsed && slot.state == ProfileState::loaded) {
    try {
      parse_text(id, slot, false);
    } catch (const ProfileError&) {  // told at start
      return {};
    }
  }
  return slot.source.parsed ? slot.source.parsed->group_names : std::vector<std::string>{};
}

bool ProfileTable::any_running() const {
  return std::any_of(profiles_.begin(), profiles_.end(),
                     [](const auto& entry) { return entry.second.running(); });
}

RunCounters ProfileTable::read(const ProfileSlot& slot) const {
  CounterReading reading = runs_.counters({slot.handle.get()});
  return {std::move(reading.runs.front()), reading.table};
}

std::vector<const Run*> ProfileTable::running() const {
  std::vector<const Run*> runs;
  for (const auto& [id, slot] : profiles_)
    if (slot.running()) runs.push_back(slot.handle.get());
  return runs;
}

RunCounters ProfileTable::total_of(const CounterReading& reading) const {
  RunCounters total{{{{finished_[0]}, {finished_[1]}}}, reading.table};
  for (const GroupCounters& sides : reading.runs)
    for (size_t side = 0; side < kSides; ++side)
      for (const CounterBlock& group : sides[side]) total.groups[side][0] += group;
  return total;
}

RunCounters ProfileTable::counters(const std::string& id) const {
  const ProfileSlot& slot = find(id);
  return slot.running() ? read(slot) : slot.results.counters;
}

RunCounters ProfileTable::total_counters() const {
  return total_of(runs_.counters(running()));
}

std::vector<LatencyBlock> ProfileTable::latencies(const std::string& id) const {
  const ProfileSlot& slot = find(id);
  return slot.running() ? slot.handle->latencies() : slot.results.latencies;
}

void ProfileTable::set_payload_check(const std::string& id, const PayloadCheckOptions& check) {
  ProfileSlot& slot = this->slot(id);
  if (slot.state != ProfileState::loaded)
    throw invalid_state(slot.state, name_of(ProfileState::loaded));
  slot.payload_check = check;
}

void ProfileTable::add_tls(const std::string& id, TlsRule rule, size_t most) {
  ProfileSlot& slot = this->slot(id);
  if (slot.state != ProfileState::loaded)
    throw invalid_state(slot.state, name_of(ProfileState::loaded));
  if (slot.tls.size() == most)
    throw refused(fmt::format("A profile may have {} rules for TLS", most));
  slot.tls.push_back(std::move(rule));
}

RunReport ProfileTable::report(const std::string& id) const {
  const ProfileSlot& slot = find(id);
  return slot.running() ? slot.handle->report() : slot.results.report;
}

std::string ProfileTable::take_tls_keys(const std::string& id, size_t most) {
  ProfileSlot& slot = this->slot(id);
  if (slot.running()) slot.tls_keys += slot.handle->take_tls_keys();
  const size_t end =
      slot.tls_keys.size() <= most ? slot.tls_keys.size() : slot.tls_keys.rfind('\n', most - 1) + 1;
  std::string taken = slot.tls_keys.substr(0, end);
  slot.tls_keys.erase(0, end);
  return taken;
}

RunStatus ProfileTable::run_status(const std::string& id) const {
  const ProfileSlot& slot = find(id);
  return slot.running() ? slot.handle->status() : slot.progress.status;
}

}  // namespace engine
