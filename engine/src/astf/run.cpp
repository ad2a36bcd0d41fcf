#include "astf/run.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "astf/run_status.h"
#include "net/address_text.h"

namespace engine {

RunStatus& RunStatus::operator+=(const RunStatus& other) {
  phase = std::min(phase, other.phase);
  client_flows += other.client_flows;
  server_flows += other.server_flows;
  intended += other.intended;
  opened += other.opened;
  late += other.late;
  unsent += other.unsent;
  held_wanted += other.held_wanted;
  held_opened += other.held_opened;
  held_refused += other.held_refused;
  established += other.established;
  return *this;
}

namespace {

/// As TRex, whose users subtract it: the first flow is opened this long after the start.
constexpr Nanoseconds kFirstOpen = 110 * kMillisecond;

/// A start still not made this long after the end of the schedule is given up.
constexpr Nanoseconds kLatestOpen = 100 * kMillisecond;

constexpr uint32_t kPortSpread = ClientPool::kPortLimit - ClientPool::kFirstPort;

std::vector<double> weights_of(const Profile& profile) {
  std::vector<double> weights;
  for (const Template& t : profile.templates) weights.push_back(t.cps);
  return weights;
}

/// This core's share of a limit; the remainder goes to the first cores (TRex: utl_split_int).
uint64_t share_of(uint64_t limit, uint32_t thread, uint32_t threads) {
  return limit / threads + (thread < limit % threads ? 1 : 0);
}

void check_covered(const Topology& topology, uint32_t port, const AddressSlice& clients) {
  if (const auto missing =
          topology.first_missing(port, clients.first, clients.first + clients.count - 1))
    throw ProfileError("Client configuration error - no group containing IP: " +
                       ipv4_text(*missing));
}

}  // namespace

ProfileRun::ProfileRun(std::shared_ptr<const Profile> profile, const RunOptions& options,
                       const CoreConfig& config, const PortOffsets& offsets)
    : profile_(std::move(profile)),
      options_(options),
      thread_(config.thread),
      threads_(config.threads),
      port_(config.thread % config.pairs * 2),
      schedule_(0, 0, 0, 0),
      choices_(config.choices()),
      draw_(weights_of(*profile_), choices_) {
  const auto first_offset = static_cast<uint32_t>(choices_ % kPortSpread);
  for (const AddressRange& range : profile_->ranges) {
    const AddressSlice slice = slice_of(range, config.thread, config.threads, config.pairs);
    if (range.client) {
      if (options_.topology && options_.opens_flows)
        check_covered(*options_.topology, port_, slice);
      const auto left = offsets.find(slice.first);
      clients_.push_back(
          std::make_unique<ClientPool>(slice, config.thread, config.steering(),
                                       left == offsets.end() ? first_offset : left->second));
      servers_.push_back(nullptr);
    } else {
      clients_.push_back(nullptr);
      servers_.push_back(std::make_unique<ServerPool>(slice));
    }
  }
  latencies_.resize(profile_->templates.size());
  for (Side side : {Side::client, Side::server}) {
    auto& counters = counters_[index_of(side)];
    counters.resize(profile_->group_names.size() + 1);
    auto& classes = classes_[index_of(side)];
    classes.resize(profile_->templates.size());
    tunables_[index_of(side)].resize(classes.size());
    for (uint32_t t = 0; t < classes.size(); ++t) {
      const Template& source = profile_->templates[t];
      const bool client = side == Side::client;
      TemplateClass& made = classes[t];
      made.program = &profile_->programs[client ? source.client_program : source.server_program];
      Tunables& tunables = tunables_[index_of(side)][t];
      tunables = client ? source.client_tunables : source.server_tunables;
      tunables.mss = tunables.mss_within(options_.mtus[index_of(side)]);
      made.set_tunables(tunables);
      made.buffers = &profile_->buffers;
      made.counters = &counters[source.group];
      if (client) made.latency = &latencies_[t];
      made.run = this;
      made.template_index = t;
      made.client_range = source.client_range;
      made.side = side;
      made.mtu = options_.mtus[index_of(side)];
      made.tags_count = options_.tags_count[index_of(side)];
    }
  }
  if (options_.payload_check.enabled) check_payload();
  if (std::ranges::any_of(options_.tls, [](const auto& tls) { return tls != nullptr; }))
    add_tls(config.max_flows);
  groups_.resize(profile_->group_names.size() + 1);
  for (uint32_t t = 0; t < profile_->templates.size(); ++t)
    groups_[profile_->templates[t].group].push_back(t);
  for (const Template& t : profile_->templates) {
    limits_.push_back(t.limit == 0 ? UINT64_MAX : share_of(t.limit, config.thread, config.threads));
    cps_ += t.cps;
    replaces_ = replaces_ || (t.limit != 0 && t.limit_is_concurrent);
  }
  for (uint32_t t = 0; t < limits_.size(); ++t)
    if (limits_[t] == 0) draw_.remove(t);
}

uint64_t ProfileRun::results_of(const Profile& profile, const RunOptions& options) {
  const uint64_t of_template = sizeof(LatencyBlock) +
                               (options.payload_check.enabled ? sizeof(PayloadBlock) : 0) +
                               (options.tls.empty() ? 0 : sizeof(TlsBlock));
  return profile.templates.size() * of_template +
         (profile.group_names.size() + 1) * kSides * sizeof(CounterBlock);
}

uint64_t ProfileRun::memory_of(const Profile& profile, const RunOptions& options) {
  /// Of each template, beside its classes: its place in groups, limits and the draw, its streams.
  constexpr uint64_t kPlaces = 256;
  /// What the library keeps of one side's settings: measured 13 KB with OpenSSL 3.0.
  constexpr uint64_t kLibrary = 16 << 10;
  const auto secured = static_cast<uint64_t>(
      std::ranges::count_if(options.tls, [](const auto& tls) { return tls != nullptr; }));
  const uint64_t of_template =
      kPlaces + kSides * (sizeof(TemplateClass) + sizeof(Tunables) +
                          (options.payload_check.enabled ? sizeof(PayloadCheck) : 0));
  return sizeof(ProfileRun) + results_of(profile, options) +
         profile.templates.size() * of_template +
         secured * kSides * (sizeof(tls::Endpoint) + kLibrary);
}

void ProfileRun::check_payload() {
  for (const Side side : {Side::client, Side::server}) {
    std::vector<PayloadCheck>& checks = payload_checks_[index_of(side)];
    for (const Template& t : profile_->templates) {
      const uint32_t sender = side == Side::client ? t.server_program : t.client_program;
      checks.push_back({ExpectedStream(profile_->programs[sender], profile_->buffers),
                        options_.payload_check.skip_bytes,
                        {}});
    }
    for (size_t t = 0; t < checks.size(); ++t) {
      TemplateClass& template_side = flow_class(side, t);
      template_side.payload_check = &checks[t];
      template_side.only_slow_path = true;
    }
  }
}

void ProfileRun::add_tls(uint32_t most_flows) {
  tls_core_ = std::make_unique<tls::TlsCore>(most_flows);
  for (const Side side : {Side::client, Side::server}) {
    std::vector<std::unique_ptr<tls::Endpoint>>& endpoints = tls_[index_of(side)];
    endpoints.resize(profile_->templates.size());
    for (size_t t = 0; t < std::min(endpoints.size(), options_.tls.size()); ++t) {
      if (options_.tls[t] == nullptr) continue;
      TemplateClass& made = flow_class(side, t);
      if (!made.program->stream || profile_->templates[t].layer7_map)
        throw ProfileError(fmt::format("template {} cannot have TLS: {}", t,
                                       made.program->stream
                                           ? "its first payload decides on the server's template"
                                           : "it is UDP"));
      try {
        endpoints[t] =
            std::make_unique<tls::Endpoint>(side, *options_.tls[t], profile_->buffers, *tls_core_);
      } catch (const tls::OptionsError& error) {
        throw ProfileError(error.what());
      }
      made.coder = endpoints[t].get();
      made.only_slow_path = true;
      made.buffers = &tls_core_->sealed.all();
      Tunables& tunables = tunables_[index_of(side)][t];
      tunables.nagle = false;  // as all that speak TLS: Finished is not waited for
      tunables.transmit_buffer =
          std::min(tunables.transmit_buffer, tls::TlsCore::kMostUnacknowledged);
    }
  }
}

RunReport ProfileRun::report() const {
  RunReport report;
  report.payload.resize(payload_checks_[0].size());
  report.tls.resize(tls_[0].size());
  for (size_t side = 0; side < kSides; ++side) {
    for (size_t t = 0; t < report.payload.size(); ++t)
      report.payload[t].sides[side] = payload_checks_[side][t].counts;
    for (size_t t = 0; t < report.tls.size(); ++t) {
      if (tls_[side][t] == nullptr) continue;
      report.tls[t].used = true;
      report.tls[t].sides[side] = tls_[side][t]->counts();
    }
  }
  return report;
}

std::string ProfileRun::take_tls_keys() {
  return tls_core_ == nullptr ? std::string() : std::exchange(tls_core_->keys, {});
}

double ProfileRun::rate(double multiplier) const {
  return options_.opens_flows ? multiplier * cps_ / threads_ : 0;
}

void ProfileRun::enter_l2_headers(L2HeaderTable& l2_headers) {
  if (!options_.topology) return;
  const L2Header port = l2_headers[L2HeaderTable::kPort];
  for (const ClientGroup& group : options_.topology->groups())
    l2_headers_.push_back(l2_headers.intern({group.destination, group.source.value_or(port.source),
                                             group.source.has_value() ? group.tags : port.tags}));
}

void ProfileRun::begin(const Context& context) {
  context_ = &context;
  const Nanoseconds now = context.now;
  const Nanoseconds end = options_.duration > 0 ? now + options_.duration : INT64_MAX;
  give_up_ = options_.duration > 0 ? end + kLatestOpen : INT64_MAX;
  schedule_ = Schedule(now + kFirstOpen, rate(options_.multiplier),
                       static_cast<Nanoseconds>(profile_->rampup_s * kSecond), end);
  draw_.set_seed(scramble(choices_ + static_cast<uint64_t>(now)));
}

void ProfileRun::leave_offsets(PortOffsets& offsets) const {
  for (const auto& pool : clients_)
    if (pool != nullptr) offsets[pool->first_address()] = pool->next_offset();
}

void ProfileRun::set_multiplier(double multiplier, Nanoseconds now) {
  options_.multiplier = multiplier;
  schedule_.set_rate(rate(multiplier), now);
}

void ProfileRun::hold(uint64_t flows, Nanoseconds ramp, Nanoseconds now) {
  held.flows = options_.opens_flows ? share_of(flows, thread_, threads_) : 0;
  held.since = now;
  held.ramp = ramp;
  held.retry = now;
}

RunStatus ProfileRun::status(Nanoseconds now) const {
  return {.phase = phase,
          .client_flows = open_flows[index_of(Side::client)],
          .server_flows = open_flows[index_of(Side::server)],
          .intended = intended(now),
          .opened = opened,
          .late = late,
          .unsent = unsent,
          .held_wanted = held.wanted(now),
          .held_opened = held.opened,
          .held_refused = held.refused,
          .established = established};
}

void ProfileRun::count_open(uint32_t index) {
  if (limits_[index] != UINT64_MAX && --limits_[index] == 0) draw_.remove(index);
}

void ProfileRun::uncount_open(uint32_t index) {
  if (limits_[index] != UINT64_MAX && limits_[index]++ == 0)
    draw_.restore(index, profile_->templates[index].cps);
}

void ProfileRun::replace(uint32_t index) {
  if (draw_.empty()) schedule_.resume(context_->now);
  uncount_open(index);
}

bool ProfileRun::exhausted(Nanoseconds now) const {
  if (schedule_.finished(now) || now >= give_up_) return true;
  if (!options_.opens_flows || !draw_.empty()) return false;
  // All limits used up: over, unless closed flows of a concurrent limit are still to be replaced.
  return replaces_ ? schedule_.ended(now) : rate(1) > 0;
}

uint64_t ProfileRun::intended(Nanoseconds now) const {
  // With all limits used up nothing is meant to be opened; Schedule::resume forgets that time.
  const uint64_t taken = opened + unsent;
  return draw_.empty() ? taken : std::max(taken, schedule_.intended(now));
}

void ProfileRun::stop_opening(Nanoseconds now) {
  unsent = intended(now) - opened;
  schedule_.stop();
}

}  // namespace engine
