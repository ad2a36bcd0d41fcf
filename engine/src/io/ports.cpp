// The ports that a machine opened, on all data cores that serve them.

#include <fmt/format.h>

#include <map>
#include <optional>
#include <vector>

#include "io/core_jobs.h"
#include "io/subjects.h"

namespace engine {

namespace {

class EnginePorts final : public Ports {
 public:
  EnginePorts(Machine& machine, const Frames& frames)
      : machine_(machine), frames_(frames), promiscuous_(machine.ports(), false) {}

  const std::vector<PortInfo>& infos() const override { return machine_.infos(); }
  PortState state(uint32_t port) const override;
  PortCounters counters(uint32_t port) const override;
  void configure(uint32_t port, const PortAddress& address) override;
  void set_promiscuous(uint32_t port, bool enabled) override;
  bool set_link(uint32_t port, bool up) override { return machine_.port(port).set_link(up); }
  bool set_flow_control(uint32_t port, int mode) override {
    return machine_.port(port).set_flow_control(mode);
  }
  std::vector<std::pair<std::string, uint64_t>> extended_statistics(uint32_t port) const override;
  void impair(uint32_t port, Direction direction, const ImpairmentSettings& settings) override;
  std::vector<PortImpairment> impairments() const override;
  std::vector<PortDrops> drops() const override;
  void set_tunnels(bool active, bool loopback) override;
  void update_tunnels(const std::shared_ptr<const Tunnels>& tunnels) override;
  std::string no_tunnels(bool loopback) const override;
  PortCounters device_losses(uint32_t port) const override { return machine_.port(port).losses(); }

 private:
  Machine& machine_;
  /// As the cores have them: none of those is to free the ones before, which may be a million.
  std::shared_ptr<const Tunnels> tunnels_;
  const Frames& frames_;
  std::vector<bool> promiscuous_;
  /// By port and direction.
  std::map<std::pair<uint32_t, Direction>, ImpairmentSettings> impairments_;
};

PortState EnginePorts::state(uint32_t port) const {
  const Port& device = machine_.port(port);
  PortState state;
  machine_.threads_of(port).front()->run([&](DataCore& core, Nanoseconds now) {
    PortResponder& responder = core.responder(side_of(port));
    responder.follow(now);
    state.resolved = responder.destination().has_value();
    state.destination = responder.destination().value_or(MacAddress{});
    state.address = responder.address();
  });
  state.link_up = device.link_up();
  state.promiscuous = promiscuous_[port];
  state.flow_control = device.flow_control();
  return state;
}

PortCounters EnginePorts::counters(uint32_t port) const {
  PortCounters sum = machine_.port(port).losses();
  sum += sum_of(
      on_cores(machine_.threads_of(port), [&](size_t, DataThread& thread, DataCore&, Nanoseconds) {
        return thread.queue(side_of(port)).counters();
      }));
  return sum;
}

std::vector<std::pair<std::string, uint64_t>> EnginePorts::extended_statistics(
    uint32_t port) const {
  std::vector<std::pair<std::string, uint64_t>> all = machine_.port(port).extended_statistics();
  all.emplace_back("capture_ring_full", frames_.unseen(port));
  all.emplace_back("vlan_tags_of_untold_type", counters(port).assumed_tags);
  return all;
}

void EnginePorts::configure(uint32_t port, const PortAddress& address) {
  PortAddress complete = address;
  if (complete.mac == MacAddress{}) complete.mac = machine_.port(port).mac();
  machine_.port(port).receive_for(complete.mac);
  const auto gateway = std::make_shared<LearnedGateway>();
  on_cores(machine_.threads_of(port),
           [&](size_t, DataThread& thread, DataCore& core, Nanoseconds now) {
             core.responder(side_of(port)).configure(complete, gateway, now);
             thread.queue(side_of(port)).set_filter(complete.mac, promiscuous_[port]);
           });
}

void EnginePorts::set_promiscuous(uint32_t port, bool enabled) {
  machine_.port(port).set_promiscuous(enabled);
  promiscuous_[port] = enabled;
  on_cores(machine_.threads_of(port), [&](size_t, DataThread& thread, DataCore& core, Nanoseconds) {
    thread.queue(side_of(port)).set_filter(core.responder(side_of(port)).address().mac, enabled);
  });
}

void EnginePorts::impair(uint32_t port, Direction direction, const ImpairmentSettings& settings) {
  const std::vector<DataThread*> threads = machine_.threads_of(port);
  on_cores(threads, [&](size_t number, DataThread& thread, DataCore&, Nanoseconds) {
    ImpairmentSettings own = settings;
    own.rate /= static_cast<double>(threads.size());
    own.seed = (settings.seed << 32 | port << 1 | static_cast<uint32_t>(direction)) +
               (uint64_t{number} << 16);
    thread.chain(side_of(port)).impair(direction, own);
  });
  impairments_[{port, direction}] = settings;
}

void EnginePorts::set_tunnels(bool active, bool loopback) {
  for (const auto& thread : machine_.threads())
    for (const Side side : {Side::client, Side::server}) {
      std::unique_ptr<TunnelEnd> end;
      if (active && (side == Side::client || loopback)) end = std::make_unique<TunnelEnd>(side);
      thread->run(
          [&](DataCore&, Nanoseconds) { end = thread->chain(side).set_tunnels(std::move(end)); });
    }
}

void EnginePorts::update_tunnels(const std::shared_ptr<const Tunnels>& tunnels) {
  on_cores(machine_.threads(), [&](size_t, DataThread& thread, DataCore&, Nanoseconds) {
    if (TunnelEnd* const end = thread.chain(Side::client).tunnels()) end->set(tunnels);
  });
  tunnels_ = tunnels;
}

// A NIC spreads frames over the cores by what is outside. What a server port learns, one core
// learns, and it may not be the one that answers.
std::string EnginePorts::no_tunnels(bool loopback) const {
  for (uint32_t port = 0; port < machine_.ports(); ++port) {
    const PortInfo& info = infos()[port];
    if (info.cores.size() == 1 || info.driver == "wire" || info.is_dummy) continue;
    if (loopback || info.over_rings.empty())
      return fmt::format(
          "port {} spreads frames over {} data cores by their outer addresses; "
          "start the server with one core for each pair of ports (-c 1)",
          port, info.cores.size());
  }
  return {};
}

std::vector<PortImpairment> EnginePorts::impairments() const {
  using Counts = std::array<std::array<ImpairmentCounts, kDirections>, kSides>;
  std::vector<PortImpairment> all;
  for (uint32_t port = 0; port < machine_.ports(); ++port)
    for (const Direction direction : {Direction::transmit, Direction::receive}) {
      const auto set = impairments_.find({port, direction});
      all.push_back(
          {port, direction, set == impairments_.end() ? ImpairmentSettings{} : set->second, {}});
    }
  const std::vector<Counts> cores =
      on_cores(machine_.threads(), [](size_t, DataThread& thread, DataCore&, Nanoseconds) {
        Counts counts;
        for (const Side side : {Side::client, Side::server})
          for (const Direction direction : {Direction::transmit, Direction::receive})
            counts[index_of(side)][static_cast<size_t>(direction)] =
                thread.chain(side).impairment_counts(direction);
        return counts;
      });
  for (size_t number = 0; number < cores.size(); ++number)
    for (const Side side : {Side::client, Side::server})
      for (size_t direction = 0; direction < kDirections; ++direction)
        all[machine_.port_of(number, side) * kDirections + direction].counts +=
            cores[number][index_of(side)][direction];
  return all;
}

std::vector<PortDrops> EnginePorts::drops() const {
  using SideDrops = std::array<PortDrops, kSides>;
  const std::vector<SideDrops> cores =
      on_cores(machine_.threads(), [](size_t, DataThread& thread, DataCore& core, Nanoseconds) {
        SideDrops sides;
        for (const Side side : {Side::client, Side::server}) {
          sides[index_of(side)] = {.drops = core.drops(side), .path_mtu = core.path_mtu(side)};
          Drops& drops = sides[index_of(side)].drops;
          for (const Direction direction : {Direction::transmit, Direction::receive}) {
            const ImpairmentCounts counts = thread.chain(side).impairment_counts(direction);
            drops[Drop::impairment_loss] += counts.lost;
            drops[Drop::impairment_full] += counts.no_room + counts.queue_full;
          }
          if (const TunnelEnd* const tunnels = thread.chain(side).tunnels())
            drops += tunnels->drops();
          drops += thread.queue(side).drops();
          if (const FrameExchange* const exchange = thread.exchange())
            drops += exchange->counts().drops[index_of(side)];
          drops[Drop::no_buffer] += thread.queue(side).transmit().without_buffer();
        }
        return sides;
      });
  std::vector<PortDrops> all;
  for (uint32_t number = 0; number < cores.size(); ++number)
    for (const Side side : {Side::client, Side::server}) {
      PortDrops& port = all.emplace_back(cores[number][index_of(side)]);
      port.port = machine_.port_of(number, side);
      port.core = number;
    }
  return all;
}

}  // namespace

std::unique_ptr<Ports> make_ports(Machine& machine, const Frames& frames) {
  return std::make_unique<EnginePorts>(machine, frames);
}

}  // namespace engine
