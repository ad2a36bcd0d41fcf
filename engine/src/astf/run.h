#pragma once
// One profile compiled for one data core: its pools, schedule, flow classes and counters.

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "astf/address_pool.h"
#include "astf/core.h"
#include "astf/flow_sampler.h"
#include "astf/profile.h"
#include "astf/schedule.h"
#include "astf/template_class.h"
#include "base/time.h"
#include "flow/context.h"
#include "stats/run_report.h"
#include "tls/endpoint.h"

namespace engine {

/// How many flows of a run are to be open on one data core, beside its schedule and whatever
/// becomes of each: those that close are replaced at once.
struct HeldFlows {
  uint64_t flows = 0;  ///< 0: none are held
  Nanoseconds since = 0;
  Nanoseconds ramp = 0;   ///< from none to all of them, evenly
  uint64_t opened = 0;    ///< for this wish, replacements among them
  uint64_t refused = 0;   ///< tries that failed; stackcost_get_drops tells why
  Nanoseconds retry = 0;  ///< no try before this

  /// Flows that are to be open at `now`.
  uint64_t wanted(Nanoseconds now) const {
    if (now - since >= ramp) return flows;
    return static_cast<uint64_t>(static_cast<double>(flows) * static_cast<double>(now - since) /
                                 static_cast<double>(ramp));
  }
};

/// From which source port on, by a pool's first address, a run opens flows: ports of an earlier run
/// may be in a peer's TIME_WAIT, so a later one goes on behind them. The first begins anywhere.
using PortOffsets = std::map<uint32_t, uint32_t>;

class ProfileRun {
 public:
  /// Throws ProfileError when a range cannot be shared among the cores.
  ProfileRun(std::shared_ptr<const Profile> profile, const RunOptions& options,
             const CoreConfig& config, const PortOffsets& offsets);

  /// Bytes that one may take, but for the ports of its clients.
  static uint64_t memory_of(const Profile& profile, const RunOptions& options);
  /// Bytes of its counters, latencies and report.
  static uint64_t results_of(const Profile& profile, const RunOptions& options);

  const Profile& profile() const { return *profile_; }

  /// Enters the headers of the clients' gateways into the core's table, before any flow is opened.
  void enter_l2_headers(L2HeaderTable& l2_headers);
  /// Of flows that `client` opens.
  uint16_t l2_header_of(uint32_t client) const {
    return l2_headers_.empty() ? L2HeaderTable::kPort
                               : l2_headers_[*options_.topology->find(port_, client)];
  }
  /// Starts the schedule, by the time of `context`, and a new order of templates; TRex opens its
  /// first flow about 0.11 s after the start.
  void begin(const Context& context);
  void set_multiplier(double multiplier, Nanoseconds now);
  /// Tells where the next run over the same addresses is to go on.
  void leave_offsets(PortOffsets& offsets) const;

  /// The class of one side of a template.
  TemplateClass& flow_class(Side side, size_t index) { return classes_[index_of(side)][index]; }
  std::vector<CounterBlock>& counters(Side side) { return counters_[index_of(side)]; }
  const std::vector<CounterBlock>& counters(Side side) const { return counters_[index_of(side)]; }
  /// By template.
  const std::vector<LatencyBlock>& latencies() const { return latencies_; }
  RunReport report() const;
  /// Takes what was kept of the secrets of connections, as lines; empty unless the options ask.
  std::string take_tls_keys();
  /// nullptr: no template has TLS.
  tls::TlsCore* tls_core() { return tls_core_.get(); }
  const tls::TlsCore* tls_core() const { return tls_core_.get(); }
  ClientPool& clients(uint32_t range) { return *clients_[range]; }
  ServerPool& servers(uint32_t range) { return *servers_[range]; }

  /// Templates of group `group` (0: of none), by number.
  const std::vector<uint32_t>& templates_of(uint32_t group) const { return groups_[group]; }

  /// A template whose limit ended leaves the draw.
  void count_open(uint32_t index);
  /// It could not be opened after all.
  void uncount_open(uint32_t index);
  void count_close(uint32_t index) {
    if (limits_[index] != UINT64_MAX && profile_->templates[index].limit_is_concurrent)
      replace(index);
  }
  /// True when nothing is to be opened any more: the schedule has ended, all limits are used up, or
  /// the core is so late that the rest would only make the run longer.
  bool exhausted(Nanoseconds now) const;
  /// Opens no more; starts that were due and not opened count as unsent.
  void stop_opening(Nanoseconds now);
  /// Starts due by `now`.
  uint64_t intended(Nanoseconds now) const;

  /// A connection is established.
  void count_established(const Context& context, const Flow& flow) {
    ++established;
    if (options_.samples_flows) sampler.established(context, flow);
  }
  Schedule& schedule() { return schedule_; }
  TemplateDraw& draw() { return draw_; }

  /// Holds this core's share of `flows` open from `now` on; a run that opens none holds none.
  void hold(uint64_t flows, Nanoseconds ramp, Nanoseconds now);
  RunStatus status(Nanoseconds now) const;

  RunPhase phase = RunPhase::opening;
  uint32_t next_to_abort = 0;  ///< closing: flows of the pool before this number are not this run's
  uint32_t next_wait_to_abort = 0;  ///< closing: nor are records of TIME_WAIT before this number
  HeldFlows held;
  FlowSampler sampler;
  uint64_t opened = 0;
  uint64_t late = 0;
  uint64_t unsent = 0;
  uint64_t established = 0;
  std::array<uint64_t, kSides> open_flows{};  ///< now, by side
  /// Of each side and template: number of its class in Context::classes.
  std::array<std::vector<uint32_t>, kSides> class_numbers;

 private:
  double rate(double multiplier) const;
  /// A flow of a concurrent limit has closed: another may be opened, and is due now if the limits
  /// alone kept it from being opened.
  void replace(uint32_t index);
  void check_payload();
  void add_tls(uint32_t most_flows);

  std::shared_ptr<const Profile> profile_;
  double cps_ = 0;         ///< of all templates together
  bool replaces_ = false;  ///< a template has a limit of flows at a time
  RunOptions options_;
  uint32_t thread_;
  uint32_t threads_;
  uint32_t port_;                     ///< number of the client port
  std::vector<uint16_t> l2_headers_;  ///< by group of the topology; empty without one
  std::array<std::vector<Tunables>, kSides> tunables_;  ///< by template
  std::array<std::vector<TemplateClass>, kSides> classes_;
  std::array<std::vector<CounterBlock>, kSides> counters_;
  std::vector<LatencyBlock> latencies_;
  /// By side that receives, and template; empty: nothing is checked.
  std::array<std::vector<PayloadCheck>, kSides> payload_checks_;
  std::unique_ptr<tls::TlsCore> tls_core_;  ///< nullptr: no template has TLS
  /// By side and template; nullptr: it has none.
  std::array<std::vector<std::unique_ptr<tls::Endpoint>>, kSides> tls_;
  std::vector<std::unique_ptr<ClientPool>> clients_;  ///< by range; empty for ranges of servers
  std::vector<std::unique_ptr<ServerPool>> servers_;
  std::vector<std::vector<uint32_t>> groups_;  ///< templates, by group
  std::vector<uint64_t> limits_;               ///< by template: flows that may still be opened
  Schedule schedule_;
  Nanoseconds give_up_ = INT64_MAX;
  uint64_t choices_;  ///< CoreConfig::choices
  TemplateDraw draw_;
  const Context* context_ = nullptr;  ///< of the core, once the run has begun
};

}  // namespace engine
