#include "rpc/engine_stand_in.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>

namespace engine {

namespace {

constexpr double kRate = 100;  ///< flows per second at multiplier 1
constexpr uint64_t kBytesPerFlow = 32'100;

double nanoseconds_to_seconds(Nanoseconds time) {
  return static_cast<double>(time) / 1e9;
}

/// When flows ceased to be opened; later than now: not yet.
double opening_end(const EngineStandIn::Run& run) {
  if (run.stopped >= 0) return run.stopped;
  return run.options.duration > 0 ? run.started + nanoseconds_to_seconds(run.options.duration)
                                  : 1e300;
}

uint64_t opened(const EngineStandIn& engine, const EngineStandIn::Run& run) {
  const double end = std::min(engine.clock(), opening_end(run));
  return static_cast<uint64_t>((end - run.started) * kRate * run.options.multiplier);
}

RunStatus status_of(const EngineStandIn& engine, const EngineStandIn::Run& run) {
  const double now = engine.clock();
  RunStatus status;
  status.opened = status.intended = opened(engine, run);
  status.established = engine.establishes ? status.opened : 0;
  if (run.closed && engine.closes) return status.phase = RunPhase::closed, status;
  status.phase = now < opening_end(run) ? RunPhase::opening : RunPhase::draining;
  const bool open = now < opening_end(run) + engine.drain_s;
  status.client_flows = open ? engine.open_flows : 0;
  status.server_flows = open ? engine.open_flows : engine.lingering_servers;
  return status;
}

std::vector<CounterBlock> counters_of(const EngineStandIn& engine, const EngineStandIn::Run& run,
                                      Side side) {
  std::vector<CounterBlock> groups(run.profile->group_names.size() + 1);
  const uint64_t flows = opened(engine, run);
  CounterBlock& block = groups.back();
  block[side == Side::client ? Counter::tcps_connattempt : Counter::tcps_accepts] = flows;
  block[Counter::tcps_connects] = flows;
  block[Counter::tcps_closed] = flows - std::min(flows, status_of(engine, run).client_flows);
  block[Counter::tcps_rcvackbyte] = flows * kBytesPerFlow;
  block[Counter::tcps_sndbyte_ok] = flows * kBytesPerFlow;
  return groups;
}

class StandInClock final : public EngineClock {
 public:
  explicit StandInClock(const EngineStandIn& engine) : engine_(engine) {}

  double now() const override { return engine_.clock(); }
  Nanoseconds wall_epoch() const override { return engine_.epoch; }

 private:
  const EngineStandIn& engine_;
};

class StandInPorts final : public Ports {
 public:
  explicit StandInPorts(EngineStandIn& engine) : engine_(engine), infos_(2) {
    for (PortInfo& info : infos_) {
      info.driver = "wire";
      info.pci_address = "N/A";
      info.cores = {0};
    }
  }

  const std::vector<PortInfo>& infos() const override { return infos_; }
  PortState state(uint32_t port) const override {
    engine_.on_call("port_state");
    return engine_.ports[port];
  }
  PortCounters counters(uint32_t) const override {
    engine_.on_call("port_counters");
    const auto frames = static_cast<uint64_t>(engine_.clock() * 1000);
    return {.opackets = frames,
            .obytes = frames * 100,
            .ipackets = frames,
            .ibytes = frames * 100,
            .assumed_tags = engine_.assumed_tags};
  }
  void configure(uint32_t port, const PortAddress& address) override {
    engine_.on_call("configure_port");
    engine_.ports[port].address = address;
    engine_.ports[port].resolved = address.destination.has_value();
    engine_.ports[port].destination = address.destination.value_or(MacAddress{});
  }
  void set_promiscuous(uint32_t port, bool enabled) override {
    engine_.on_call("set_promiscuous");
    engine_.ports[port].promiscuous = enabled;
  }
  bool set_link(uint32_t port, bool up) override {
    engine_.ports[port].link_up = up;
    return true;
  }
  bool set_flow_control(uint32_t port, int mode) override {
    if (!engine_.ports[port].flow_control) return false;
    engine_.ports[port].flow_control = mode;
    return true;
  }
  std::vector<std::pair<std::string, uint64_t>> extended_statistics(uint32_t port) const override {
    if (port == 0) return {{"rx_good_packets", 5}};
    return {{"rx_good_packets", 5 + port}, {"capture_ring_full", 0}};
  }
  void impair(uint32_t port, Direction direction, const ImpairmentSettings& settings) override {
    engine_.on_call("impair");
    engine_.impairments[{port, direction}] = settings;
  }
  std::vector<PortImpairment> impairments() const override {
    engine_.on_call("impairments");
    std::vector<PortImpairment> all;
    for (const auto& [key, settings] : engine_.impairments)
      all.push_back({key.first, key.second, settings, {.frames = 7, .lost = 2}});
    return all;
  }
  void set_tunnels(bool active, bool loopback) override {
    engine_.tunnels_active = active;
    engine_.tunnels_loopback = loopback;
  }
  void update_tunnels(const std::shared_ptr<const Tunnels>& tunnels) override {
    engine_.tunnels = tunnels;
  }
  std::string no_tunnels(bool) const override { return engine_.no_tunnels; }
  std::vector<PortDrops> drops() const override {
    engine_.on_call("drops");
    PortDrops drops{.port = 1, .core = 0, .drops = {}, .path_mtu = {}};
    drops.drops[Drop::no_template] = 3;
    for (const uint32_t mtu : {1400, 1300, 1400}) drops.path_mtu.add(mtu);
    return {{}, drops};
  }
  PortCounters device_losses(uint32_t port) const override {
    return {.oerrors = engine_.refused, .ierrors = port};
  }

 private:
  EngineStandIn& engine_;
  std::vector<PortInfo> infos_;
};

class StandInCores final : public Cores {
 public:
  explicit StandInCores(const EngineStandIn& engine) : engine_(engine) {}

  uint32_t count() const override { return 1; }
  uint32_t count_per_pair() const override { return 1; }
  std::vector<CoreCycles> cycles() const override {
    engine_.on_call("cycles");
    const auto total = static_cast<uint64_t>(engine_.clock() * 1e9);
    return {{.core = 0,
             .cpu = 1,
             .pair = 0,
             .total = total,
             .busy = total / 4,
             .copying = total / 16,
             .sending = total / 8}};
  }
  uint64_t tsc_hz() const override { return 1'000'000'000; }
  std::vector<PoolStatus> memory() const override {
    engine_.on_call("memory");
    return {{"flow", 256, 10, 1 << 20}};
  }
  std::map<uint32_t, std::pair<uint64_t, uint64_t>> buffers() const override {
    engine_.on_call("buffers");
    return {{2176, {900, 1000}}};
  }

 private:
  const EngineStandIn& engine_;
};

class StandInRun final : public Run {
 public:
  StandInRun(EngineStandIn& engine, int number, std::map<const Run*, int>& numbers)
      : engine_(engine), number_(number), numbers_(numbers) {
    numbers_[this] = number;
  }
  ~StandInRun() override { numbers_.erase(this); }

  const std::vector<std::string>& notices() const override { return engine_.run_notices; }
  void set_multiplier(double multiplier) override {
    engine_.on_call("set_multiplier");
    engine_.calls.push_back(fmt::format("set_multiplier {}", number_));
    run().options.multiplier = multiplier;
  }
  void hold(uint64_t flows, Nanoseconds) override {
    engine_.on_call("hold");
    engine_.calls.push_back(fmt::format("hold {} {}", number_, flows));
  }
  void stop_opening() override {
    engine_.on_call("stop_opening");
    engine_.calls.push_back(fmt::format("stop_opening {}", number_));
    run().stopped = engine_.clock();
  }
  void close() override {
    engine_.on_call("close");
    engine_.calls.push_back(fmt::format("close {}", number_));
    run().closed = true;
  }
  void remove() override {
    engine_.on_call("remove");
    engine_.calls.push_back(fmt::format("remove {}", number_));
    engine_.runs.erase(number_);
  }
  RunStatus status() const override {
    engine_.on_call("status");
    return status_of(engine_, run());
  }
  std::vector<LatencyBlock> latencies() const override {
    engine_.on_call("latencies");
    std::vector<LatencyBlock> templates(run().profile->templates.size());
    for (uint64_t flow = 0; flow < opened(engine_, run()); ++flow)
      templates.at(0)[LatencyKind::connect].record(150);
    return templates;
  }
  RunReport report() const override {
    engine_.on_call("report");
    RunReport report;
    if (run().options.payload_check.enabled) {
      report.payload.resize(run().profile->templates.size());
      report.payload.at(0).sides[index_of(Side::client)].compared_bytes =
          opened(engine_, run()) * kBytesPerFlow;
    }
    report.tls.resize(run().options.tls.size());
    for (size_t t = 0; t < report.tls.size(); ++t) {
      if (run().options.tls[t] == nullptr) continue;
      report.tls[t].used = true;
      report.tls[t].sides[index_of(Side::client)].full = opened(engine_, run());
      report.tls[t].sides[index_of(Side::client)].alerts_sent[40] = 2;
    }
    return report;
  }
  std::string take_tls_keys() override { return std::exchange(engine_.tls_keys, {}); }
  std::vector<std::vector<tcp::Info>> sampled_flows() const override {
    engine_.on_call("sampled_flows");
    return engine_.sampled_flows;
  }

 private:
  EngineStandIn::Run& run() const { return engine_.runs.at(number_); }

  EngineStandIn& engine_;
  const int number_;
  std::map<const Run*, int>& numbers_;
};

class StandInRuns final : public Runs {
 public:
  explicit StandInRuns(EngineStandIn& engine) : engine_(engine) {}

  RunMemory memory_of(const Profile&, const RunOptions&) const override {
    return engine_.run_memory;
  }
  std::unique_ptr<Run> start(std::shared_ptr<const Profile> profile, const RunOptions& options,
                             PortMask client_mask) override {
    int number = 1;
    while (engine_.runs.contains(number)) ++number;
    engine_.on_call("start");
    engine_.calls.push_back(fmt::format("start {}", number));
    if (!engine_.start_error.empty()) throw ProfileError(engine_.start_error);
    engine_.runs[number] = {.profile = std::move(profile),
                            .options = options,
                            .client_mask = client_mask,
                            .started = engine_.clock()};
    return std::make_unique<StandInRun>(engine_, number, numbers_);
  }
  CounterReading counters(const std::vector<const Run*>& runs) const override {
    engine_.on_call("counters");
    CounterReading reading;
    for (const Run* run : runs) {
      const EngineStandIn::Run& own = engine_.runs.at(numbers_.at(run));
      reading.runs.push_back(
          {counters_of(engine_, own, Side::client), counters_of(engine_, own, Side::server)});
    }
    reading.table = engine_.table;
    return reading;
  }
  void enable_clients(const AddressRanges& addresses, bool enabled) override {
    engine_.on_call("enable_clients");
    AddressRanges& disabled = engine_.clients.disabled;
    for (const auto& [first, last] : addresses.ranges())
      enabled ? disabled.remove(first, last) : disabled.add(first, last);
  }
  ClientAddresses clients() const override {
    engine_.on_call("clients");
    return engine_.clients;
  }
  Population population() const override {
    engine_.on_call("population");
    return {200, 1, 10};
  }

 private:
  EngineStandIn& engine_;
  std::map<const Run*, int> numbers_;
};

class StandInFrames final : public Frames {
 public:
  explicit StandInFrames(EngineStandIn& engine) : engine_(engine) {}

  void add_tap(uint32_t port, const CaptureTap& tap) override {
    engine_.on_call("add_tap");
    engine_.calls.push_back(fmt::format("add_tap {}", port));
    engine_.copiers.try_emplace(port, port).first->second.add(tap);
  }
  void remove_tap(uint32_t number) override {
    engine_.on_call("remove_tap");
    for (auto& [port, copier] : engine_.copiers) copier.remove(number);
  }
  void read_seen(const std::function<void(const SeenFrame&)>& take) override {
    engine_.on_call("read_seen");
    for (auto entry = engine_.copiers.begin(); entry != engine_.copiers.end();) {
      auto& [port, copier] = *entry;
      copier.ring().read(take);
      engine_.unseen[port] += copier.take_lost();
      entry = copier.idle() ? engine_.copiers.erase(entry) : std::next(entry);
    }
  }
  uint64_t unseen(uint32_t port) const override { return engine_.unseen[port]; }
  size_t send(uint32_t port, std::vector<std::vector<uint8_t>> frames) override {
    engine_.on_call("send");
    for (const auto& frame : frames) engine_.sent.emplace_back(port, frame);
    return frames.size();
  }
  void set_service(const ServiceMode& mode) override {
    engine_.on_call("set_service");
    engine_.service = mode;
  }
  void set_ignored(const Ignored& ignored) override {
    engine_.on_call("set_ignored");
    engine_.ignored = ignored;
  }

 private:
  EngineStandIn& engine_;
};

class StandInLatency final : public LatencyStreams {
 public:
  explicit StandInLatency(EngineStandIn& engine) : engine_(engine) {}

  void start(uint32_t port, const LatencyOptions& options) override {
    engine_.on_call("start_latency");
    engine_.calls.push_back(fmt::format("start_latency {}", port));
    engine_.latency[port] = options;
  }
  void set_interval(Nanoseconds interval) override {
    engine_.on_call("set_latency_interval");
    for (auto& [port, options] : engine_.latency) options.interval = interval;
  }
  void stop() override {
    engine_.on_call("stop_latency");
    engine_.calls.push_back("stop_latency");
  }
  LatencyReport report(uint32_t) const override {
    engine_.on_call("latency");
    return engine_.latency_report;
  }

 private:
  EngineStandIn& engine_;
};

}  // namespace

struct EngineStandIn::Parts {
  explicit Parts(EngineStandIn& engine)
      : clock(engine),
        ports(engine),
        cores(engine),
        runs(engine),
        frames(engine),
        latency(engine) {}

  StandInClock clock;
  StandInPorts ports;
  StandInCores cores;
  StandInRuns runs;
  StandInFrames frames;
  StandInLatency latency;
};

EngineStandIn::EngineStandIn() : parts_(std::make_unique<Parts>(*this)) {
  for (uint32_t port = 0; port < 2; ++port) {
    ports[port].address.mac = {2, 0, 0, 0, 0, static_cast<uint8_t>(port)};
    ports[port].destination = {2, 0, 0, 0, 0, static_cast<uint8_t>(port ^ 1)};
    ports[port].resolved = true;
    ports[port].link_up = true;
  }
}

EngineStandIn::~EngineStandIn() = default;

Subjects EngineStandIn::subjects() {
  Parts& parts = *parts_;
  return {parts.clock, parts.ports, parts.cores, parts.runs, parts.frames, parts.latency};
}

void EngineStandIn::pass(const std::vector<Passing>& frames) {
  for (const Passing& passing : frames) {
    const auto copier = copiers.find(passing.port);
    if (copier == copiers.end()) continue;
    Frame frame;
    frame.head = const_cast<uint8_t*>(passing.bytes.data());
    frame.head_length = static_cast<uint16_t>(passing.bytes.size());
    copier->second.see(frame, passing.transmitted, static_cast<Nanoseconds>(clock() * 1e9));
  }
}

bool EngineStandIn::watched() const {
  return std::ranges::any_of(copiers, [](const auto& entry) { return !entry.second.idle(); });
}

}  // namespace engine
