#include "io/machine.h"

#include <fmt/format.h>
#include <pthread.h>
#include <sched.h>
#include <sys/random.h>

#include <algorithm>

#include "io/dpdk_port.h"
#include "io/eal.h"
#include "io/memif/port.h"
#include "io/packet_socket.h"
#include "io/wire.h"

namespace engine {
namespace {

constexpr MacAddress kNoMac{};

/// DPDK's own needs beside packet memory.
constexpr uint32_t kEalMemoryMb = 16;

/// CPUs for `count` data threads: as configured, else those this process may use, the control
/// thread's last.
std::vector<uint32_t> data_cpus(const EngineConfig& config, size_t count) {
  if (!config.data_cpus.empty()) {
    if (config.data_cpus.size() < count)
      throw ConfigError(fmt::format("platform dual_if lists {} CPUs, {} data cores need {}",
                                    config.data_cpus.size(), count, count));
    return config.data_cpus;
  }
  cpu_set_t allowed;
  sched_getaffinity(0, sizeof allowed, &allowed);
  std::vector<uint32_t> cpus;
  for (uint32_t cpu = 0; cpu < CPU_SETSIZE; ++cpu)
    if (CPU_ISSET(cpu, &allowed)) cpus.push_back(cpu);
  const uint32_t control = config.control_cpu.value_or(cpus.front());
  if (std::erase(cpus, control) > 0) cpus.push_back(control);
  const size_t distinct = cpus.size();
  for (size_t i = distinct; i < count; ++i) cpus.push_back(cpus[i % distinct]);
  return cpus;
}

void pin_control_thread(uint32_t cpu) {
  cpu_set_t cpus;
  CPU_ZERO(&cpus);
  CPU_SET(cpu, &cpus);
  if (pthread_setaffinity_np(pthread_self(), sizeof cpus, &cpus) != 0)
    throw ConfigError(fmt::format("master_thread_id: this machine has no CPU {} to run on", cpu));
}

/// From the kernel, as soon as it has such.
uint64_t random_key() {
  uint64_t key = 0;
  while (getrandom(&key, sizeof key, 0) != sizeof key) {
  }
  return key;
}

bool takes_dpdk(DeviceKind kind) {
  return kind == DeviceKind::pci || kind == DeviceKind::virtual_device ||
         kind == DeviceKind::interface;
}

}  // namespace

Machine::Machine(const EngineConfig& config) : config_(config) {
  open_ports();
  fill_in_addresses();
  start_threads();
  if (config_.control_cpu) pin_control_thread(*config_.control_cpu);
}

void Machine::open_ports() {
  std::vector<DeviceName> devices;
  std::vector<std::string> pci;
  uint32_t memory_mb = kEalMemoryMb;
  for (const PortConfig& port : config_.ports) {
    const DeviceName& device = devices.emplace_back(parse_device_name(port.device));
    if (!takes_dpdk(device.kind)) continue;
    if (device.kind == DeviceKind::pci) pci.push_back(device.name);
    memory_mb += packet_memory_mb(config_.cores_per_pair);
    with_dpdk_ = true;
  }
  if (with_dpdk_)
    if (std::string notice = start_eal(config_, pci, memory_mb); !notice.empty())
      config_.notices.push_back(std::move(notice));

  while (ports_.size() < devices.size()) {
    const auto number = static_cast<uint32_t>(ports_.size());
    const DeviceName& device = devices[number];
    if (device.kind == DeviceKind::dummy)
      ports_.push_back(make_dummy_port(number, config_.cores_per_pair));
    else if (device.kind == DeviceKind::wire)
      for (auto& end : make_wire(number, config_.cores_per_pair)) ports_.push_back(std::move(end));
    else if (device.kind == DeviceKind::packet_socket)
      ports_.push_back(open_packet_socket_port(device.name, config_.cores_per_pair));
    else if (device.kind == DeviceKind::memif)
      ports_.push_back(open_memif_port(device, config_.cores_per_pair));
    else
      ports_.push_back(open_dpdk_port(device, number, config_.cores_per_pair, config_.notices));
  }
  if (!config_.cut_by_device) {
    for (const auto& port : ports_) {
      for (uint32_t core = 0; core < config_.cores_per_pair; ++core) {
        TransmitQueue& queue = port->queue(core).transmit();
        queue.set_offloads({.checksum = queue.offloads().checksum, .max_payload = 0});
      }
    }
  }
  for (size_t number = 0; number < ports_.size(); ++number)
    if (const std::string& reason = ports_[number]->info().over_rings; !reason.empty())
      config_.notices.push_back(fmt::format(
          "port {}: frames reach their data core over rings in memory: {}", number, reason));
}

bool Machine::refers_to_payload() const {
  return std::ranges::any_of(ports_, [](const auto& port) { return port->refers_to_payload(); });
}

void Machine::tell_address(uint32_t number) {
  Port& port = *ports_[number];
  MacAddress& mac = config_.ports[number].address.mac;
  if (mac == kNoMac) mac = port.mac();
  if (mac == port.mac() || port.receive_for(mac)) return;
  config_.notices.push_back(fmt::format(
      "port {}: its device cannot be told of src_mac; frames for that address arrive only if the "
      "device passes on all",
      number));
}

void Machine::fill_in_addresses() {
  const auto address_of = [this](uint32_t number) -> PortAddress& {
    return config_.ports[number].address;
  };
  for (uint32_t number = 0; number < ports_.size(); ++number) tell_address(number);
  for (uint32_t number = 0; number < ports_.size(); ++number) {
    PortAddress& address = address_of(number);
    // A wire leads to one other port, so nobody needs to say where to.
    if (config_.ports[number].device == "wire" && !address.ipv4 && !address.ipv6_gateway &&
        !address.destination)
      address.destination = address_of(number ^ 1).mac;
  }
}

void Machine::start_threads() {
  const size_t count = pairs() * config_.cores_per_pair;
  const std::vector<uint32_t> cpus = data_cpus(config_, count);
  const Nanoseconds wall_epoch = clock_.wall_epoch();
  const uint64_t key = random_key();
  std::vector<std::shared_ptr<ExchangeRings>> rings(pairs());
  if (config_.cores_per_pair > 1)
    for (auto& each : rings) each = std::make_shared<ExchangeRings>(config_.cores_per_pair);
  std::vector<std::shared_ptr<LearnedGateway>> gateways;
  while (gateways.size() < ports_.size()) gateways.push_back(std::make_shared<LearnedGateway>());
  for (size_t thread = 0; thread < count; ++thread) {
    CoreConfig core;
    core.thread = static_cast<uint32_t>(thread);
    core.threads = static_cast<uint32_t>(count);
    core.pairs = static_cast<uint32_t>(pairs());
    core.max_flows = std::max(1u, config_.max_flows / core.threads);  // as TRex shares them out
    core.epoch = wall_epoch;
    core.seed = key;
    std::array<PortQueue*, kSides> queues;
    for (const Side side : {Side::client, Side::server}) {
      const uint32_t port = port_of(thread, side);
      core.ports[index_of(side)] = configured(port);
      core.gateways[index_of(side)] = gateways[port];
      queues[index_of(side)] = &ports_[port]->queue(static_cast<uint32_t>(thread / pairs()));
      queues[index_of(side)]->set_filter(configured(port).mac, false);
    }
    // Where no port opens connections another name tells it from the data threads that do.
    const bool opens = !ports_[port_of(thread, Side::client)]->info().is_dummy;
    const std::string name = fmt::format("{}-{}", opens ? "data" : "serve", thread);
    threads_.push_back(std::make_unique<DataThread>(clock_, core, cpus[thread], name, with_dpdk_,
                                                    config_.sleeps, queues,
                                                    rings[thread % pairs()]));
  }
  for (uint32_t port = 0; port < ports_.size(); ++port) {
    PortInfo& info = infos_.emplace_back(ports_[port]->info());
    for (size_t thread = port / 2; thread < count; thread += pairs())
      info.cores.push_back(static_cast<uint32_t>(thread));
  }
}

std::vector<DataThread*> Machine::threads_of(uint32_t port) const {
  std::vector<DataThread*> serving;
  for (const uint32_t thread : infos_.at(port).cores) serving.push_back(threads_[thread].get());
  return serving;
}

}  // namespace engine
