#pragma once
// Profiles: their states, what is kept of each from upload to the counters of its last run, and all
// of them together.

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "control/runs.h"
#include "control/subjects.h"
#include "rpc/budgets.h"
#include "rpc/flow_samples.h"
#include "rpc/latency.h"
#include "rpc/resolution.h"
#include "rpc/run_statistics.h"
#include "rpc/sessions.h"
#include "rpc/tls_rules.h"

namespace engine {

/// Of a profile and of the server, numbered and named as ASTF clients know them.
enum class ProfileState : uint8_t { idle, loaded, parse, build, transmit, cleanup, remove };

/// The words TRex uses in "Invalid state: ...".
constexpr const char* name_of(ProfileState state) {
  switch (state) {
    case ProfileState::idle:
      return "Idle";
    case ProfileState::loaded:
      return "Loaded profile";
    case ProfileState::parse:
      return "Parsing profile";
    case ProfileState::build:
      return "Setup traffic";
    case ProfileState::transmit:
      return "Transmitting";
    case ProfileState::cleanup:
      return "Cleanup traffic";
    case ProfileState::remove:
      return "Delete profile";
  }
  return "";
}

/// The name of a port's state in get_port_status; clients know these and no other.
constexpr const char* port_state_name(ProfileState state) {
  switch (state) {
    case ProfileState::idle:
      return "IDLE";
    case ProfileState::loaded:
      return "ASTF_LOADED";
    case ProfileState::parse:
      return "ASTF_PARSE";
    case ProfileState::build:
      return "ASTF_BUILD";
    case ProfileState::transmit:
      return "TX";
    case ProfileState::cleanup:
      return "ASTF_CLEANUP";
    case ProfileState::remove:
      return "ASTF_LOADED";
  }
  return "";
}

constexpr bool is_transient(ProfileState state) {
  return state == ProfileState::parse || state == ProfileState::build ||
         state == ProfileState::cleanup || state == ProfileState::remove;
}

/// Among the states of all profiles the one with the highest rank is the server's.
constexpr int rank_of(ProfileState state) {
  switch (state) {
    case ProfileState::transmit:
      return 6;
    case ProfileState::build:
      return 5;
    case ProfileState::parse:
      return 4;
    case ProfileState::cleanup:
      return 3;
    case ProfileState::loaded:
      return 2;
    case ProfileState::remove:
      return 1;
    case ProfileState::idle:
      return 0;
  }
  return 0;
}

/// A profile being deleted counts as loaded in the server's state.
constexpr ProfileState as_server_state(ProfileState state) {
  return state == ProfileState::remove ? ProfileState::loaded : state;
}

/// Arguments of `start`.
struct StartOptions {
  double multiplier = 1;
  double duration_s = -1;  ///< <= 0: no end
  bool no_close = false;   ///< nc: cut open flows when the duration is over
  bool ipv6 = false;
  uint32_t client_mask = 0xffffffff;
  double establish_limit_s = 0;  ///< e_duration: no flow established by then, no more are opened
  std::shared_ptr<const Topology> topology{};  ///< nullptr: none
  /// Of latency streams; nullopt: the profile's own (latency_addresses).
  std::optional<LatencyControl::Addresses> latency{};
  double latency_rate = 0;       ///< latency_pps: packets per second of latency streams; 0: none
  double sample_interval_s = 0;  ///< dump_interval: between samples of flows; 0: none
  double drain_limit_s = 0;      ///< t_duration: how long flows may go on after the duration
};

struct ProfileSlot {
  static constexpr size_t kMaxBytes = size_t{256} << 20;  ///< of the profile's JSON

  /// `budget` pays for what is kept of the profile.
  explicit ProfileSlot(ByteBudget& budget) : upload("Profile", kMaxBytes, budget), kept(budget) {}

  ProfileState state = ProfileState::idle;

  // upload
  Fragments upload;
  Charge kept;             ///< the slot, its text, and what was parsed of it
  std::string upload_md5;  ///< as the client said with the first of several fragments
  std::string text;        ///< the profile's JSON, once complete
  std::string md5;

  // parsed
  std::shared_ptr<const Profile> profile;
  bool profile_ipv6 = false;  ///< parsed with ipv6 forced

  // run
  StartOptions options;
  std::optional<Resolution> resolution;  ///< of the ports that the run being built needs
  PayloadCheckOptions payload_check;     ///< of the runs from the next start on
  std::vector<TlsRule> tls;              ///< the same
  double started = 0;
  std::optional<double> draining;        ///< since when no flows are opened
  std::optional<double> clients_done;    ///< since when, in addition, no client flow is open
  std::unique_ptr<Run> handle;           ///< while it runs
  std::vector<std::string> run_notices;  ///< of the run started last
  RunStatus run;                         ///< as last seen; final after the run
  RunCounters final_counters;            ///< of the last finished run
  std::vector<LatencyBlock> final_latencies;
  RunReport final_report;
  std::string tls_keys;  ///< that nobody has taken yet
  RunStatistics statistics;
  FlowSamples flow_samples;
  bool has_latency = false;  ///< latency streams run along, and end with it

  // deletion
  double deleting = 0;                  ///< since when
  std::optional<double> deletion_told;  ///< since when the owner knows of it

  /// Grows with each upload and each start; clients drop what they know of groups and counters.
  uint64_t epoch = 0;

  /// Bytes of it beside what was parsed.
  uint64_t own_bytes() const { return sizeof *this + text.size(); }
  /// The run is known to the engine.
  bool running() const { return handle != nullptr; }
};

/// What to do with a running profile.
enum class RunStep : uint8_t {
  carry_on,
  stop_opening,  ///< let open flows finish
  finish,        ///< remove what is left
};

/// Decides at `now`; keeps the slot's times. `slot.run` is fresh.
RunStep next_step(ProfileSlot& slot, double now);

/// Drives profiles through their states and tells every step to the sessions, in TRex's order:
/// event 60 for a profile, then event 50 when the server's state changed with it. Methods called by
/// clients throw RpcError; what takes time happens in `advance`, after the client got its answer.
class ProfileTable {
 public:
  static constexpr const char* kDefault = "_";  ///< this profile always exists
  static constexpr size_t kMost = 10'000;       ///< profiles at once
  static constexpr size_t kLongestId = 1'000;   ///< bytes

  /// `budget` pays for profiles.
  ProfileTable(const Subjects& engine, RpcSubscribers& subscribers, ByteBudget& budget);

  /// One piece of a profile's JSON. True: a profile with this `md5` is loaded under this id
  /// already, nothing need follow. Nothing is parsed yet. Throws RpcError also when there are too
  /// many profiles, or they take too much memory.
  bool upload(const std::string& id, const std::string& fragment, bool first, bool last,
              const std::string& md5);
  /// Forgets uploads that are not complete.
  void drop_uploads();
  void start(const std::string& id, const StartOptions& options);
  /// Ends the profile's run, or its start while that waits for a gateway.
  void stop(const std::string& id);
  /// Ends all starts, of profiles and of latency streams, that have not come to their run, with
  /// `why` as their error.
  void abandon_starts(const std::string& why);
  void update(const std::string& id, double multiplier);
  /// Holds flows of a transmitting profile open.
  void hold(const std::string& id, uint64_t flows, double ramp_s);
  /// Of runs that start from now on, until the next upload. Only between upload and start.
  void set_payload_check(const std::string& id, const PayloadCheckOptions& check);
  /// The same of TLS; `most` rules. Rules add up.
  void add_tls(const std::string& id, TlsRule rule, size_t most);
  void clear(const std::string& id);
  /// Counts the server's epoch up; refused while anything is in a transient state.
  void advance_epoch();

  /// Takes every profile one step further. A step that fails ends its profile's run, with the
  /// reason in the event, and no other's.
  void advance();
  /// How soon `advance` has something to do (seconds).
  double patience() const;
  /// Takes readings for the rates; every 0.5 to 1 s.
  void sample();

  LatencyControl& latency() { return latency_; }
  ProfileState state() const { return state_; }
  uint64_t epoch() const { return epoch_; }
  const std::map<std::string, ProfileSlot>& profiles() const { return profiles_; }
  /// Throws RpcError when there is no such profile.
  const ProfileSlot& find(const std::string& id) const;
  /// The slot's template group names; parses the profile if nobody has yet. None if it cannot be.
  std::vector<std::string> group_names(const std::string& id);
  bool any_running() const;

  /// Counters of the profile's run, as of now or as its last one ended.
  RunCounters counters(const std::string& id) const;
  /// Counters of all runs of this epoch together.
  RunCounters total_counters() const;
  const RunStatistics& total_statistics() const { return total_; }
  RunStatus run_status(const std::string& id) const;
  /// By template, of the profile's run, as of now or as its last one ended; none before a run.
  std::vector<LatencyBlock> latencies(const std::string& id) const;
  /// Of its present run, or its last one; empty before a run.
  RunReport report(const std::string& id) const;
  /// Takes whole lines of the key log of its runs, `most` bytes of them.
  std::string take_tls_keys(const std::string& id, size_t most);

 private:
  ProfileSlot& slot(const std::string& id);
  void set_state(const std::string& id, ProfileSlot& slot, ProfileState state,
                 const std::string& error = "");
  void update_server_state();
  Json event_data(const std::string& id) const;

  /// Takes one profile a step further. True: it is to be erased.
  bool step(const std::string& id, ProfileSlot& slot, bool poll_due);
  /// Ends what the profile is about after a step that failed; it stays loaded.
  void give_up(const std::string& id, ProfileSlot& slot, const std::string& why);
  ProfileSlot& added(const std::string& id);
  /// Has `slot.profile` from its text. Throws ProfileError, and leaves what was there before.
  void parse_text(const std::string& id, ProfileSlot& slot, bool ipv6);
  void parse(const std::string& id, ProfileSlot& slot);
  /// Looks whether the ports know where to send, and once they do, starts the run.
  void build(const std::string& id, ProfileSlot& slot);
  void start_run(const std::string& id, ProfileSlot& slot);
  void abandon_start(const std::string& id, ProfileSlot& slot, const std::string& why);
  void refuse_run(const std::string& id, ProfileSlot& slot, const std::string& why);
  void poll_run(const std::string& id, ProfileSlot& slot);
  void begin_cleanup(const std::string& id, ProfileSlot& slot);
  void finish_cleanup(const std::string& id, ProfileSlot& slot);
  bool may_be_removed(ProfileSlot& slot) const;
  bool remove(const std::string& id, ProfileSlot& slot);  ///< true: to be erased

  RunCounters read(const ProfileSlot& slot) const;
  std::vector<const Run*> running() const;
  RunCounters total_of(const CounterReading& reading) const;

  const EngineClock& clock_;
  const Ports& ports_;
  Runs& runs_;
  RpcSubscribers& subscribers_;
  ByteBudget& budget_;
  LatencyControl latency_;
  std::map<std::string, ProfileSlot> profiles_;
  ProfileState state_ = ProfileState::idle;
  uint64_t epoch_ = 1;
  double next_poll_ = 0;
  RunStatistics total_;
  std::array<CounterBlock, kSides> finished_{};  ///< sums of finished runs of this epoch
};

}  // namespace engine
