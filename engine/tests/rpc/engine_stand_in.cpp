#include "rpc/engine_stand_in.h"

#include <algorithm>
#include <memory>

namespace engine {

namespace {

constexpr double kRate = 100;  ///< flows per second at multiplier 1
constexpr uint64_t kBytesPerFlow = 32'100;

std::unique_ptr<EngineStandIn> current;

double nanoseconds_to_seconds(Nanoseconds time) {
  return static_cast<double>(time) / 1e9;
}

/// When flows ceased to be opened; later than now: not yet.
double opening_end(const EngineStandIn::Run& run) {
  if (run.stopped >= 0) return run.stopped;
  return run.options.duration > 0 ? run.started + nanoseconds_to_seconds(run.options.duration)
                                  : 1e300;
}

uint64_t opened(const EngineStandIn::Run& run) {
  const double end = std::min(current->clock(), opening_end(run));
  return static_cast<uint64_t>((end - run.started) * kRate * run.options.multiplier);
}

RunStatus status_of(const EngineStandIn::Run& run) {
  const double now = current->clock();
  RunStatus status;
  status.opened = status.intended = opened(run);
  status.established = current->establishes ? status.opened : 0;
  if (run.closed) return status.phase = RunPhase::closed, status;
  status.phase = now < opening_end(run) ? RunPhase::opening : RunPhase::draining;
  const bool open = now < opening_end(run) + current->drain_s;
  status.client_flows = open ? current->open_flows : 0;
  status.server_flows = open ? current->open_flows : current->lingering_servers;
  return status;
}

std::vector<CounterBlock> counters_of(const EngineStandIn::Run& run, Side side) {
  std::vector<CounterBlock> groups(run.profile->group_names.size() + 1);
  const uint64_t flows = opened(run);
  CounterBlock& block = groups.back();
  block[side == Side::client ? Counter::tcps_connattempt : Counter::tcps_accepts] = flows;
  block[Counter::tcps_connects] = flows;
  block[Counter::tcps_closed] = flows - std::min(flows, status_of(run).client_flows);
  block[Counter::tcps_rcvackbyte] = flows * kBytesPerFlow;
  block[Counter::tcps_sndbyte_ok] = flows * kBytesPerFlow;
  return groups;
}

}  // namespace

EngineStandIn& stand_in() {
  return *current;
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

struct Engine::Implementation {
  std::vector<PortInfo> ports{2};
};

Engine::Engine(const EngineConfig&) : implementation_(std::make_unique<Implementation>()) {
  current = std::make_unique<EngineStandIn>();
  for (uint32_t port = 0; port < 2; ++port) {
    PortInfo& info = implementation_->ports[port];
    info.driver = "wire";
    info.pci_address = "N/A";
    info.cores = {0};
    current->ports[port].address.mac = {2, 0, 0, 0, 0, static_cast<uint8_t>(port)};
    current->ports[port].destination = {2, 0, 0, 0, 0, static_cast<uint8_t>(port ^ 1)};
    current->ports[port].resolved = true;
    current->ports[port].link_up = true;
  }
}
Engine::~Engine() = default;

const std::vector<PortInfo>& Engine::ports() const {
  return implementation_->ports;
}
PortState Engine::port_state(uint32_t port) const {
  current->on_call("port_state");
  return current->ports[port];
}
PortCounters Engine::port_counters(uint32_t) const {
  current->on_call("port_counters");
  const auto frames = static_cast<uint64_t>(current->clock() * 1000);
  return {.opackets = frames, .obytes = frames * 100, .ipackets = frames, .ibytes = frames * 100};
}
void Engine::configure_port(uint32_t port, const PortAddress& address) {
  current->on_call("configure_port");
  current->ports[port].address = address;
  current->ports[port].resolved = address.destination.has_value();
  current->ports[port].destination = address.destination.value_or(MacAddress{});
}
void Engine::set_promiscuous(uint32_t port, bool enabled) {
  current->on_call("set_promiscuous");
  current->ports[port].promiscuous = enabled;
}

void Engine::watch(uint32_t port, const Watch& watch) {
  current->on_call("watch");
  current->calls.push_back("watch " + std::to_string(port));
  current->copiers.try_emplace(port, port).first->second.add(watch);
}
void Engine::unwatch(uint32_t number) {
  current->on_call("unwatch");
  for (auto& [port, copier] : current->copiers) copier.remove(number);
}
void Engine::read_seen(const std::function<void(const SeenFrame&)>& take) {
  current->on_call("read_seen");
  for (auto entry = current->copiers.begin(); entry != current->copiers.end();) {
    auto& [port, copier] = *entry;
    copier.ring().read(take);
    current->unseen[port] += copier.take_lost();
    entry = copier.idle() ? current->copiers.erase(entry) : std::next(entry);
  }
}
uint64_t Engine::unseen(uint32_t port) const {
  return current->unseen[port];
}
size_t Engine::send(uint32_t port, std::vector<std::vector<uint8_t>> frames) {
  current->on_call("send");
  for (const auto& frame : frames) current->sent.emplace_back(port, frame);
  return frames.size();
}
void Engine::impair(uint32_t port, Direction direction, const ImpairmentSettings& settings) {
  current->on_call("impair");
  current->impairments[{port, direction}] = settings;
}
std::vector<PortImpairment> Engine::impairments() const {
  current->on_call("impairments");
  std::vector<PortImpairment> all;
  for (const auto& [key, settings] : current->impairments)
    all.push_back({key.first, key.second, settings, {.frames = 7, .lost = 2}});
  return all;
}
bool Engine::set_link(uint32_t port, bool up) {
  return current->ports[port].link_up = up, true;
}
bool Engine::set_flow_control(uint32_t port, int mode) {
  if (!current->ports[port].flow_control) return false;
  return current->ports[port].flow_control = mode, true;
}
void Engine::set_ignored(const Ignored& ignored) {
  current->on_call("set_ignored");
  current->ignored = ignored;
}
void Engine::enable_clients(const AddressRanges& addresses, bool enabled) {
  current->on_call("enable_clients");
  AddressRanges& disabled = current->clients.disabled;
  for (const auto& [first, last] : addresses.ranges())
    enabled ? disabled.remove(first, last) : disabled.add(first, last);
}
ClientAddresses Engine::clients() const {
  current->on_call("clients");
  return current->clients;
}
std::vector<std::pair<std::string, uint64_t>> Engine::extended_statistics(uint32_t port) const {
  if (port == 0) return {{"rx_good_packets", 5}};
  return {{"rx_good_packets", 5 + port}, {"capture_ring_full", 0}};
}
void Engine::set_service(const ServiceMode& mode) {
  current->on_call("set_service");
  current->service = mode;
}

void Engine::start(const std::string& id, std::shared_ptr<const Profile> profile,
                   const RunOptions& options, PortMask client_mask) {
  current->on_call("start");
  current->calls.push_back("start " + id);
  if (!current->start_error.empty()) throw ProfileError(current->start_error);
  current->runs[id] = {.profile = std::move(profile),
                       .options = options,
                       .client_mask = client_mask,
                       .started = current->clock()};
}
void Engine::set_multiplier(const std::string& id, double multiplier) {
  current->on_call("set_multiplier");
  current->calls.push_back("set_multiplier " + id);
  current->runs.at(id).options.multiplier = multiplier;
}
void Engine::hold(const std::string& id, uint64_t flows, Nanoseconds) {
  current->on_call("hold");
  current->calls.push_back("hold " + id + " " + std::to_string(flows));
}
void Engine::stop_opening(const std::string& id) {
  current->on_call("stop_opening");
  current->calls.push_back("stop_opening " + id);
  current->runs.at(id).stopped = current->clock();
}
void Engine::close(const std::string& id) {
  current->on_call("close");
  current->calls.push_back("close " + id);
  current->runs.at(id).closed = true;
}
void Engine::remove(const std::string& id) {
  current->on_call("remove");
  current->calls.push_back("remove " + id);
  current->runs.erase(id);
}

void Engine::start_latency(uint32_t port, const LatencyOptions& options) {
  current->on_call("start_latency");
  current->calls.push_back("start_latency " + std::to_string(port));
  current->latency[port] = options;
}
void Engine::set_latency_interval(Nanoseconds interval) {
  current->on_call("set_latency_interval");
  for (auto& [port, options] : current->latency) options.interval = interval;
}
void Engine::stop_latency() {
  current->on_call("stop_latency");
  current->calls.push_back("stop_latency");
}
LatencyReport Engine::latency(uint32_t) const {
  current->on_call("latency");
  return current->latency_report;
}

RunStatus Engine::status(const std::string& id) const {
  current->on_call("status");
  return status_of(current->runs.at(id));
}

CounterReading Engine::counters(const std::vector<std::string>& ids) const {
  current->on_call("counters");
  CounterReading reading;
  for (const std::string& id : ids)
    for (const Side side : {Side::client, Side::server})
      reading.runs[id][index_of(side)] = counters_of(current->runs.at(id), side);
  reading.table = current->table;
  return reading;
}
std::vector<LatencyBlock> Engine::latencies(const std::string& id) const {
  current->on_call("latencies");
  const EngineStandIn::Run& run = current->runs.at(id);
  std::vector<LatencyBlock> templates(run.profile->templates.size());
  for (uint64_t flow = 0; flow < opened(run); ++flow)
    templates.at(0)[LatencyKind::connect].record(150);
  return templates;
}
std::vector<PayloadBlock> Engine::payload(const std::string& id) const {
  current->on_call("payload");
  const EngineStandIn::Run& run = current->runs.at(id);
  if (!run.options.payload_check.enabled) return {};
  std::vector<PayloadBlock> templates(run.profile->templates.size());
  templates.at(0).sides[index_of(Side::client)].compared_bytes = opened(run) * kBytesPerFlow;
  return templates;
}
Engine::Population Engine::population() const {
  current->on_call("population");
  return {200, 1, 10};
}
std::vector<PortDrops> Engine::drops() const {
  current->on_call("drops");
  PortDrops drops{.port = 1, .core = 0, .drops = {}};
  drops.drops[Drop::no_template] = 3;
  return {{}, drops};
}
uint64_t Engine::device_losses(uint32_t port) const {
  return port;
}
std::vector<PoolStatus> Engine::memory() const {
  current->on_call("memory");
  return {{"flow", 256, 10, 1 << 20}};
}
std::map<uint32_t, std::pair<uint64_t, uint64_t>> Engine::buffers() const {
  current->on_call("buffers");
  return {{2176, {900, 1000}}};
}
std::vector<std::vector<tcp::Info>> Engine::watched_flows(const std::string&) {
  current->on_call("watched_flows");
  return current->watched_flows;
}
std::vector<CoreCycles> Engine::cycles() const {
  current->on_call("cycles");
  const auto total = static_cast<uint64_t>(current->clock() * 1e9);
  return {
      {.core = 0, .cpu = 1, .pair = 0, .total = total, .busy = total / 4, .sending = total / 8}};
}
uint64_t Engine::tsc_hz() const {
  return 1'000'000'000;
}
uint32_t Engine::core_count() const {
  return 1;
}
uint32_t Engine::cores_per_pair() const {
  return 1;
}
double Engine::now() const {
  return current->clock();
}
Nanoseconds Engine::wall_epoch() const {
  return current->epoch;
}

}  // namespace engine
