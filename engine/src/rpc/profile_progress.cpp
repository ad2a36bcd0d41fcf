// The state machine of profiles: what happens between a client's command and its effect.

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "json/parse_profile.h"
#include "rpc/profiles.h"
#include "rpc/rpc_error.h"

namespace engine {

namespace {

/// How often running profiles are looked at; each look interrupts the data threads (seconds).
constexpr double kPollPeriod = 0.02;
constexpr double kPollPeriodPerProfile = 0.001;
constexpr double kIdlePatience = 0.1;
constexpr double kTransientPatience = 0.002;

/// Event 61 makes a client forget all states it has not looked at. One that waits for "Delete
/// profile" would wait for ever if both came at once, so 61 follows this long after the owner
/// collected the former (seconds), or when it has not done so in kDeletionLimit.
constexpr double kDeletionVisible = 0.05;
constexpr double kDeletionLimit = 2;

void print(const std::string& id, const std::vector<std::string>& notices) {
  for (const std::string& notice : notices) fmt::print(stderr, "profile {}: {}\n", id, notice);
}

/// Does one of several things that belong together: a failure keeps none of the others from being
/// done. The first is kept in `failure`.
template <typename Part>
void attempt(std::string& failure, const char* what, const Part& part) {
  try {
    part();
  } catch (const std::exception& error) {
    if (failure.empty()) failure = fmt::format("{}: {}", what, error.what());
  }
}

}  // namespace

Json ProfileTable::event_data(const std::string& id) const {
  return {{"profile_id", id}, {"epoch", epoch_}};
}

void ProfileTable::set_state(const std::string& id, ProfileSlot& slot, ProfileState state,
                             const std::string& error) {
  slot.state = state;
  Json data = event_data(id);
  data["state"] = static_cast<int>(state);
  if (!error.empty()) data["error"] = error;
  subscribers_.publish(Event::profile_state, data, clock_.now());
  update_server_state();
}

void ProfileTable::update_server_state() {
  ProfileState highest = ProfileState::idle;
  for (const auto& [id, slot] : profiles_)
    if (rank_of(slot.state) > rank_of(highest)) highest = slot.state;
  highest = as_server_state(highest);
  if (highest == state_) return;
  state_ = highest;
  subscribers_.publish(Event::state, {{"state", static_cast<int>(state_)}, {"epoch", epoch_}},
                       clock_.now());
}

void ProfileTable::advance() {
  const bool poll_due = clock_.now() >= next_poll_;
  size_t running = 0;
  for (auto entry = profiles_.begin(); entry != profiles_.end();) {
    auto& [id, slot] = *entry;
    bool removed = false;
    try {
      removed = step(id, slot, poll_due);
    } catch (const std::exception& error) {
      give_up(id, slot, error.what());
    }
    running += slot.running();
    entry = removed ? profiles_.erase(entry) : std::next(entry);
    if (removed) update_server_state();
  }
  if (poll_due)
    next_poll_ = clock_.now() + kPollPeriod + kPollPeriodPerProfile * static_cast<double>(running);
}

bool ProfileTable::step(const std::string& id, ProfileSlot& slot, bool poll_due) {
  switch (slot.state) {
    case ProfileState::idle:
    case ProfileState::loaded:
      break;
    case ProfileState::parse:
      parse(id, slot);
      break;
    case ProfileState::build:
      build(id, slot);
      break;
    case ProfileState::transmit:
      if (slot.flow_samples.patience(clock_.now()) == 0)
        slot.flow_samples.add(slot.handle->sampled_flows(), clock_.now());
      if (poll_due) poll_run(id, slot);
      break;
    case ProfileState::cleanup:
      // There is no run when its start was refused and the event that says so failed.
      if (slot.running())
        finish_cleanup(id, slot);
      else
        set_state(id, slot, ProfileState::loaded);
      break;
    case ProfileState::remove:
      return may_be_removed(slot) && remove(id, slot);
  }
  return false;
}

/// What failed once may well fail for ever, so its run ends here.
void ProfileTable::give_up(const std::string& id, ProfileSlot& slot, const std::string& why) {
  std::string failure;
  attempt(failure, "latency streams are not stopped", [&] {
    if (std::exchange(slot.has_latency, false)) latency_.stop();
  });
  const bool began = slot.state == ProfileState::transmit || slot.state == ProfileState::cleanup;
  if (slot.running()) began ? end_run(slot, failure) : remove_run(slot, failure);
  if (!failure.empty()) fmt::print(stderr, "astf-engine: profile {}: {}\n", id, failure);
  refuse_run(id, slot, why);
}

/// Keeps what can be read of a run, then takes it out. What cannot be read stays as it was at the
/// run's start.
void ProfileTable::end_run(ProfileSlot& slot, std::string& failure) {
  RunResults& results = slot.results;
  Run& run = *slot.handle;
  attempt(failure, "the run's status is lost", [&] { slot.progress.status = run.status(); });
  attempt(failure, "its counters are lost", [&] { results.counters = read(slot); });
  attempt(failure, "its latencies are lost", [&] { results.latencies = run.latencies(); });
  attempt(failure, "its report is lost", [&] { results.report = run.report(); });
  attempt(failure, "its TLS keys are lost", [&] { slot.tls_keys += run.take_tls_keys(); });
  remove_run(slot, failure);
  for (Side side : {Side::client, Side::server})
    finished_[index_of(side)] += results.counters.sum(side);
  TrafficTime& traffic = slot.statistics.traffic;
  if (traffic.first && !traffic.last) traffic.last = clock_.now();
  slot.statistics.settle();
  if (any_running()) return;
  total_.traffic.last = traffic.last;
  total_.settle();
}

void ProfileTable::remove_run(ProfileSlot& slot, std::string& failure) {
  attempt(failure, "the run is not removed", [&] { slot.handle->remove(); });
  slot.handle.reset();
  slot.measured.set(slot.results_bytes);
}

double ProfileTable::patience() const {
  double patience = kIdlePatience;
  for (const auto& [id, slot] : profiles_) {
    if (slot.state == ProfileState::parse) return 0;
    if (slot.state == ProfileState::build)
      patience = std::min(patience, slot.resolution->patience(clock_.now()));
    else if (is_transient(slot.state))
      patience = std::min(patience, kTransientPatience);
    if (slot.state == ProfileState::transmit)
      patience = std::min({patience, kPollPeriod, slot.flow_samples.patience(clock_.now())});
  }
  return patience;
}

void ProfileTable::parse_text(const std::string& id, ProfileSlot& slot, bool ipv6) {
  const std::string what = fmt::format("profile '{}', when it is parsed,", id);
  std::shared_ptr<const Profile> profile;
  try {
    profile = parse_profile(slot.source.text, ipv6, budget_.left());
  } catch (const ProfileTooLarge&) {
    throw ProfileError(budget_.refusal(budget_.left() + 1, what + " at least"));
  }
  if (!slot.kept.set(slot.own_bytes() + profile->memory()))
    throw ProfileError(budget_.refusal(profile->memory(), what));
  slot.source.parsed = std::move(profile);
  slot.notices.clear();
  slot.source.ipv6 = ipv6;
}

void ProfileTable::parse(const std::string& id, ProfileSlot& slot) {
  try {
    parse_text(id, slot, slot.options.ipv6);
    print(id, slot.source.parsed->notices);
  } catch (const std::exception& error) {
    set_state(id, slot, ProfileState::loaded, error.what());
    return;
  }
  set_state(id, slot, ProfileState::build);
}

void ProfileTable::build(const std::string& id, ProfileSlot& slot) {
  try {
    if (!slot.resolution->advance(clock_.now())) return;
  } catch (const std::exception& error) {
    refuse_run(id, slot, error.what());
    return;
  }
  start_run(id, slot);
}

void ProfileTable::start_run(const std::string& id, ProfileSlot& slot) {
  const StartOptions& options = slot.options;
  RunOptions run;
  run.multiplier = options.multiplier;
  run.payload_check = slot.payload_check;
  run.topology = options.topology;
  run.samples_flows = options.sample_interval_s > 0;
  run.duration =
      options.duration_s > 0 ? static_cast<Nanoseconds>(options.duration_s * kSecond) : 0;
  const std::array<CounterBlock, kSides> table = runs_.counters({}).table;
  const bool after_quiet = !any_running();
  RunMemory memory;
  try {
    run.tls = resolve(slot.tls, *slot.source.parsed);
    memory = runs_.memory_of(*slot.source.parsed, run);
    const uint64_t bytes = memory.cores + memory.results;
    if (!slot.measured.set(slot.results_bytes + bytes))
      throw ProfileError(run_budget_.refusal(bytes, fmt::format("a run of profile '{}'", id)));
    slot.handle = runs_.start(slot.source.parsed, run, options.client_mask);
  } catch (const std::exception& error) {
    slot.measured.set(slot.results_bytes);
    refuse_run(id, slot, error.what());
    return;
  }
  slot.notices = slot.handle->notices();
  print(id, slot.notices);
  if (options.latency_rate > 0) {
    try {
      latency_.start(options.latency ? *options.latency : latency_addresses(*slot.source.parsed),
                     options.latency_rate, LatencyControl::kAllPorts);
      slot.has_latency = true;
    } catch (const RpcError& error) {
      std::string why = error.specific;
      remove_run(slot, why);
      refuse_run(id, slot, why);
      return;
    }
  }
  const double now = clock_.now();
  if (after_quiet) {
    ++epoch_;
    finished_ = {};
    total_.begin(table, now);
  }
  total_.traffic.last.reset();
  ++slot.epoch;
  slot.progress = {};
  slot.progress.started = now;
  slot.results_bytes = memory.results;
  slot.measured.set(memory.cores + memory.results);
  slot.results = {};
  slot.results.counters.table = table;
  slot.statistics.begin(table, now);
  slot.flow_samples.begin(options.sample_interval_s, now);
  set_state(id, slot, ProfileState::transmit);
}

void ProfileTable::refuse_run(const std::string& id, ProfileSlot& slot, const std::string& why) {
  set_state(id, slot, ProfileState::cleanup, why);
  set_state(id, slot, ProfileState::loaded);
}

void ProfileTable::poll_run(const std::string& id, ProfileSlot& slot) {
  const double now = clock_.now();
  slot.progress.status = slot.handle->status();
  const RunStep step = next_step(slot.progress, slot.options, slot.statistics.traffic, now);
  if (!total_.traffic.first) total_.traffic.first = slot.statistics.traffic.first;
  switch (step) {
    case RunStep::carry_on:
      break;
    case RunStep::stop_opening:
      slot.handle->stop_opening();
      break;
    case RunStep::finish:
      begin_cleanup(id, slot);
      break;
  }
}

void ProfileTable::begin_cleanup(const std::string& id, ProfileSlot& slot) {
  slot.handle->stop_opening();
  if (std::exchange(slot.has_latency, false)) latency_.stop();
  set_state(id, slot, ProfileState::cleanup);
}

void ProfileTable::finish_cleanup(const std::string& id, ProfileSlot& slot) {
  slot.handle->close();
  slot.progress.status = slot.handle->status();
  if (slot.progress.status.phase != RunPhase::closed) return;

  std::string failure;
  end_run(slot, failure);
  set_state(id, slot, ProfileState::loaded, failure);
}

bool ProfileTable::may_be_removed(ProfileSlot& slot) const {
  const double now = clock_.now();
  if (!slot.deletion.told) {
    if (!subscribers_.owner_delivered() && now - slot.deletion.since < kDeletionLimit) return false;
    slot.deletion.told = now;
  }
  return now - *slot.deletion.told >= kDeletionVisible;
}

bool ProfileTable::remove(const std::string& id, ProfileSlot& slot) {
  subscribers_.publish(Event::profile_cleared, event_data(id), clock_.now());
  if (id != kDefault) return true;
  const uint64_t epoch = slot.epoch + 1;
  slot = ProfileSlot(budget_, run_budget_);
  slot.kept.grow(slot.own_bytes());
  slot.epoch = epoch;
  set_state(id, slot, ProfileState::idle);
  return false;
}

void ProfileTable::sample() {
  const double now = clock_.now();
  if (!any_running()) return;
  const CounterReading reading = runs_.counters(running());
  auto groups = reading.runs.begin();
  for (auto& [id, slot] : profiles_)
    if (slot.running()) slot.statistics.sample({*groups++, reading.table}, now);
  total_.sample(total_of(reading), now);
}

}  // namespace engine
