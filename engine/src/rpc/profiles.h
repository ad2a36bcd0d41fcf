#pragma once
// All profiles together, and their way from a client's command to its effect.

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "control/subjects.h"
#include "rpc/latency.h"
#include "rpc/profile_slot.h"
#include "rpc/sessions.h"

namespace engine {

/// Drives profiles through their states and tells every step to the sessions, in TRex's order:
/// event 60 for a profile, then event 50 when the server's state changed with it. Methods called by
/// clients throw RpcError; what takes time happens in `advance`, after the client got its answer.
class ProfileTable {
 public:
  static constexpr const char* kDefault = "_";  ///< this profile always exists
  static constexpr size_t kMost = 10'000;       ///< profiles at once
  static constexpr size_t kLongestId = 1'000;   ///< bytes

  /// `budget` pays for profiles, `run_budget` for runs and their results.
  ProfileTable(const Subjects& engine, RpcSubscribers& subscribers, ByteBudget& budget,
               ByteBudget& run_budget);

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
  /// These go on after a failure; the first is kept in `failure`.
  void end_run(ProfileSlot& slot, std::string& failure);
  void remove_run(ProfileSlot& slot, std::string& failure);
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
  ByteBudget& run_budget_;
  LatencyControl latency_;
  std::map<std::string, ProfileSlot> profiles_;
  ProfileState state_ = ProfileState::idle;
  uint64_t epoch_ = 1;
  double next_poll_ = 0;
  RunStatistics total_;
  std::array<CounterBlock, kSides> finished_{};  ///< sums of finished runs of this epoch
};

}  // namespace engine
