// Runs of profiles on all data cores of a machine.

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <vector>

#include "io/core_jobs.h"
#include "io/external_payload.h"
#include "io/subjects.h"
#include "net/ethernet.h"

namespace engine {

namespace {

class EngineRun;

class EngineRuns final : public Runs {
 public:
  explicit EngineRuns(Machine& machine) : machine_(machine) {}

  RunMemory memory_of(const Profile& profile, const RunOptions& options) const override {
    return {machine_.threads().size() * ProfileRun::memory_of(profile, options),
            ProfileRun::results_of(profile, options)};
  }
  std::unique_ptr<Run> start(std::shared_ptr<const Profile> profile, const RunOptions& options,
                             PortMask client_mask) override;
  CounterReading counters(const std::vector<const Run*>& runs) const override;
  void enable_clients(const AddressRanges& addresses, bool enabled) override;
  ClientAddresses clients() const override;
  Population population() const override;

 private:
  friend class EngineRun;

  void begin(const EngineRun& run);
  void end(const EngineRun& run);
  void receive_whole();

  Machine& machine_;
  std::map<const Run*, const EngineRun*> running_;
};

/// One run, with its part on every data core.
class EngineRun final : public Run {
  const std::vector<std::unique_ptr<DataThread>>& threads() const {
    return runs_.machine_.threads();
  }
  /// Has `job`(part, core, now) done on every core.
  template <typename Job>
  auto on_parts(Job job) const {
    return on_cores(threads(), [&](size_t number, DataThread&, DataCore& core, Nanoseconds now) {
      return job(*on_core_[number], core, now);
    });
  }

 public:
  EngineRun(EngineRuns& runs, std::shared_ptr<const Profile> profile, bool reads_payload,
            std::vector<std::string> notices)
      : runs_(runs),
        profile_(std::move(profile)),
        reads_payload_(reads_payload),
        notices_(std::move(notices)),
        on_core_(threads().size(), nullptr) {
    if (runs_.machine_.refers_to_payload()) payload_ = ExternalPayload::copy_of(profile_->buffers);
    runs_.begin(*this);
  }
  ~EngineRun() override { runs_.end(*this); }

  /// Has the prepared parts run. When one throws, others may run already.
  void attach(std::vector<std::unique_ptr<ProfileRun>> parts);

  void set_multiplier(double multiplier) override {
    on_parts([&](ProfileRun& part, DataCore&, Nanoseconds now) {
      part.set_multiplier(multiplier, now);
    });
  }
  void hold(uint64_t flows, Nanoseconds ramp) override {
    on_parts([&](ProfileRun& part, DataCore&, Nanoseconds now) { part.hold(flows, ramp, now); });
  }
  void stop_opening() override {
    on_parts([](ProfileRun& part, DataCore& core, Nanoseconds) { core.stop_opening(part); });
  }
  void close() override {
    on_parts([](ProfileRun& part, DataCore& core, Nanoseconds) { core.close(part); });
  }

  void remove() override;

  const std::vector<std::string>& notices() const override { return notices_; }
  RunStatus status() const override {
    return sum_of(
        on_parts([](ProfileRun& part, DataCore& core, Nanoseconds) { return core.status(part); }));
  }
  std::vector<LatencyBlock> latencies() const override {
    return read_latencies(threads(), on_core_);
  }
  RunReport report() const override {
    return sum_of(on_parts([](ProfileRun& part, DataCore&, Nanoseconds) { return part.report(); }));
  }
  std::string take_tls_keys() override {
    const auto cores =
        on_parts([](ProfileRun& part, DataCore&, Nanoseconds) { return part.take_tls_keys(); });
    std::string all;
    for (const std::string& own : cores) all += own;
    return all;
  }
  std::vector<std::vector<tcp::Info>> sampled_flows() const override {
    return on_parts([](ProfileRun& part, DataCore& core, Nanoseconds now) {
      return core.sampled_flows(part, now);
    });
  }

  const Profile& profile() const { return *profile_; }
  bool reads_payload() const { return reads_payload_; }
  /// Its part on data core number `core`.
  const ProfileRun& part(size_t core) const { return *on_core_[core]; }

 private:
  void wait_for_frames() const;

  EngineRuns& runs_;
  const std::shared_ptr<const Profile> profile_;
  const bool reads_payload_;
  const std::vector<std::string> notices_;
  std::vector<ProfileRun*> on_core_;                ///< nullptr: not attached there
  std::shared_ptr<const ExternalPayload> payload_;  ///< nullptr: every frame has a copy
};

void EngineRun::attach(std::vector<std::unique_ptr<ProfileRun>> parts) {
  on_cores(threads(), [&](size_t number, DataThread& thread, DataCore& core, Nanoseconds now) {
    if (payload_ != nullptr)
      for (const Side side : {Side::client, Side::server}) thread.queue(side).refer_to(payload_);
    ProfileRun* const part = parts[number].get();
    core.attach(parts[number], now);
    thread.count_run(1);
    on_core_[number] = part;
  });
}

void EngineRun::remove() {
  on_cores(threads(), [this](size_t number, DataThread&, DataCore& core, Nanoseconds) {
    if (on_core_[number] != nullptr) core.close(*on_core_[number]);
  });
  std::vector<std::unique_ptr<ProfileRun>> parts(threads().size());
  for (bool closed = false; !closed;) {  // Each time the cores have made a turn.
    on_cores(threads(), [&](size_t number, DataThread& thread, DataCore& core, Nanoseconds) {
      ProfileRun*& part = on_core_[number];
      if (part == nullptr || core.status(*part).phase != RunPhase::closed) return;
      parts[number] = core.detach(*part);
      part = nullptr;
      thread.count_run(-1);
    });
    closed = std::ranges::all_of(on_core_, [](const ProfileRun* part) { return part == nullptr; });
  }
  wait_for_frames();
  on_cores(threads(), [this](size_t, DataThread& thread, DataCore&, Nanoseconds) {
    for (const Side side : {Side::client, Side::server}) thread.queue(side).forget(payload_);
  });
  payload_.reset();
  runs_.end(*this);
}

/// Frames on a wire refer to the profile's payload, so it goes only once these have arrived.
void EngineRun::wait_for_frames() const {
  for (const auto& thread : threads())
    for (const Side side : {Side::client, Side::server}) {
      uint64_t sent = 0;
      uint64_t released = 0;
      const auto read = [&](DataCore&, Nanoseconds) {
        if (sent == 0) sent = thread->queue(side).counters().opackets;
        released = thread->queue(side).payload_released();
      };
      do {
        thread->run(read);
      } while (released < sent);
    }
}

void EngineRuns::begin(const EngineRun& run) {
  running_.emplace(&run, &run);
  receive_whole();
}

void EngineRuns::end(const EngineRun& run) {
  if (running_.erase(&run) != 0) receive_whole();
}

/// What nobody reads need not be copied.
void EngineRuns::receive_whole() {
  const bool read =
      std::ranges::any_of(running_, [](const auto& each) { return each.second->reads_payload(); });
  for (uint32_t port = 0; port < machine_.ports(); ++port) machine_.port(port).receive_whole(read);
}

/// What a port's packets have room for: the longest one, bytes, 0 being any, and how many of those
/// bytes VLAN tags take, of the port's own or of a group behind it, whichever are more.
struct Room {
  uint32_t mtu = 0;
  bool tags_count = false;
  uint32_t tag_bytes = 0;
};

/// Segments of `profile` that do not fit a port, each kind once.
std::vector<std::string> too_long_segments(const Profile& profile, const std::vector<Room>& rooms) {
  std::set<std::string> found;
  for (uint32_t port = 0; port < rooms.size(); ++port)
    for (const Template& source : profile.templates) {
      const bool client = side_of(port) == Side::client;
      const Program& program =
          profile.programs[client ? source.client_program : source.server_program];
      const Tunables& tunables = client ? source.client_tunables : source.server_tunables;
      const Room& room = rooms[port];
      const uint16_t fits = tunables.mss_within(room.mtu - room.tag_bytes);
      if (program.stream && fits != tunables.mss)
        found.insert(fmt::format(
            "tcp.mss is {}, and over {} the MTU of port {}, {}{}, leaves {}", tunables.mss,
            tunables.ipv6 ? "IPv6" : "IPv4", port, room.mtu,
            room.tag_bytes == 0 ? "" : fmt::format(" less {} of VLAN tags", room.tag_bytes), fits));
    }
  return {found.begin(), found.end()};
}

std::unique_ptr<Run> EngineRuns::start(std::shared_ptr<const Profile> profile,
                                       const RunOptions& options, PortMask client_mask) {
  // A dummy port leads nowhere, so nothing is opened there.
  const auto opens = [&](uint32_t port) {
    return options.opens_flows && (client_mask >> port & 1) != 0 &&
           !machine_.infos()[port].is_dummy;
  };
  std::vector<Room> rooms;
  for (uint32_t port = 0; port < machine_.ports(); ++port) {
    const uint32_t mtu = machine_.port(port).mtu();
    const bool tunnels =
        machine_.threads_of(port).front()->chain(side_of(port)).tunnels() != nullptr;
    Room& room = rooms.emplace_back();
    room.mtu = tunnels && mtu > kMostTunnelBytes ? mtu - kMostTunnelBytes : mtu;
    room.tags_count = room.mtu != 0 && machine_.port(port).counts_tags();
    if (!room.tags_count) continue;
    machine_.threads_of(port).front()->run([&](DataCore& core, Nanoseconds) {
      room.tag_bytes = tag_bytes_in_mtu(core.responder(side_of(port)).address().tags);
    });
    if (options.topology == nullptr) continue;
    for (const ClientGroup& group : options.topology->groups())
      if (group.port == port && group.source.has_value())
        room.tag_bytes = std::max(room.tag_bytes, tag_bytes_in_mtu(group.tags));
  }
  std::vector<std::unique_ptr<ProfileRun>> parts;
  for (size_t number = 0; number < machine_.threads().size(); ++number) {
    RunOptions own = options;
    own.opens_flows = opens(machine_.port_of(number, Side::client));
    for (const Side side : {Side::client, Side::server}) {
      const Room& room = rooms[machine_.port_of(number, side)];
      own.mtus[index_of(side)] = room.mtu;
      own.tags_count[index_of(side)] = room.tags_count;
    }
    parts.push_back(machine_.threads()[number]->core().prepare(profile, own));
  }
  std::vector<std::string> notices = too_long_segments(*profile, rooms);
  auto run = std::make_unique<EngineRun>(*this, std::move(profile), options.reads_payload(),
                                         std::move(notices));
  try {
    run->attach(std::move(parts));
  } catch (...) {
    run->remove();
    throw;
  }
  return run;
}

CounterReading EngineRuns::counters(const std::vector<const Run*>& runs) const {
  return sum_of(on_cores(
      machine_.threads(), [&](size_t number, DataThread& thread, DataCore& core, Nanoseconds) {
        CounterReading own;
        for (const Run* run : runs) {
          const ProfileRun& part = running_.at(run)->part(number);
          own.runs.push_back({part.counters(Side::client), part.counters(Side::server)});
        }
        for (const Side side : {Side::client, Side::server}) {
          CounterBlock& table = own.table[index_of(side)] = core.table_counters(side);
          if (const FrameExchange* const exchange = thread.exchange())
            table += exchange->counts().counters[index_of(side)];
        }
        return own;
      }));
}

void EngineRuns::enable_clients(const AddressRanges& addresses, bool enabled) {
  on_cores(machine_.threads(), [&](size_t, DataThread&, DataCore& core, Nanoseconds) {
    core.enable_clients(addresses, enabled);
  });
}

ClientAddresses EngineRuns::clients() const {
  return sum_of(on_cores(machine_.threads(), [](size_t, DataThread&, DataCore& core, Nanoseconds) {
    return core.clients();
  }));
}

Population EngineRuns::population() const {
  Population population;
  for (const auto& [handle, run] : running_) {
    for (const AddressRange& range : run->profile().ranges)
      (range.client ? population.clients : population.servers) +=
          uint64_t{range.last} - range.first + 1;
    population.ports_in_use += run->status().client_flows;
  }
  return population;
}

}  // namespace

std::unique_ptr<Runs> make_runs(Machine& machine) {
  return std::make_unique<EngineRuns>(machine);
}

}  // namespace engine
