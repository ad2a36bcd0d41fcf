// What the data cores have counted and hold.

#include <algorithm>

#include "astf/run.h"
#include "io/engine_implementation.h"

namespace engine {
namespace {

template <typename Block>
void add(std::vector<Block>& to, const std::vector<Block>& what) {
  to.resize(std::max(to.size(), what.size()));
  for (size_t i = 0; i < what.size(); ++i) to[i] += what[i];
}

}  // namespace

RunStatus Engine::status(const std::string& id) const {
  RunStatus sum;
  implementation_->on_all_cores([&](DataCore& core, Nanoseconds, DataThread&) {
    const RunStatus status = core.status(id);
    sum.phase = std::min(sum.phase, status.phase);
    sum.client_flows += status.client_flows;
    sum.server_flows += status.server_flows;
    sum.intended += status.intended;
    sum.opened += status.opened;
    sum.late += status.late;
    sum.unsent += status.unsent;
    sum.held_wanted += status.held_wanted;
    sum.held_opened += status.held_opened;
    sum.held_refused += status.held_refused;
    sum.established += status.established;
  });
  return sum;
}

CounterReading Engine::counters(const std::vector<std::string>& ids) const {
  const auto read = [&ids](const DataCore& core, CounterReading& own) {
    for (const Side side : {Side::client, Side::server}) {
      for (const std::string& id : ids) own.runs[id][index_of(side)] = core.counters(id, side);
      own.table[index_of(side)] = core.table_counters(side);
    }
  };
  CounterReading sum;
  for (const CounterReading& own : implementation_->at_once<CounterReading>(read))
    for (size_t side = 0; side < kSides; ++side) {
      for (const auto& [id, groups] : own.runs) add(sum.runs[id][side], groups[side]);
      sum.table[side] += own.table[side];
    }
  return sum;
}

std::vector<LatencyBlock> Engine::latencies(const std::string& id) const {
  std::vector<LatencyBlock> sum;
  for (const auto& thread : implementation_->machine.threads()) thread->add_latencies(id, sum);
  return sum;
}

std::vector<PayloadBlock> Engine::payload(const std::string& id) const {
  std::vector<PayloadBlock> sum;
  implementation_->on_all_cores(
      [&](DataCore& core, Nanoseconds, DataThread&) { add(sum, core.payload(id)); });
  return sum;
}

Engine::Population Engine::population() const {
  Population population;
  for (const auto& [id, profile] : implementation_->attached) {
    for (const AddressRange& range : profile->ranges)
      (range.client ? population.clients : population.servers) +=
          uint64_t{range.last} - range.first + 1;
    population.ports_in_use += status(id).client_flows;
  }
  return population;
}

std::vector<PortDrops> Engine::drops() const {
  std::vector<PortDrops> all;
  const Machine& machine = implementation_->machine;
  for (uint32_t number = 0; number < machine.threads().size(); ++number)
    machine.threads()[number]->run([&](DataCore& core, Nanoseconds) {
      for (const Side side : {Side::client, Side::server}) {
        const PortChain& chain = machine.threads()[number]->chain(side);
        PortQueue& queue = machine.threads()[number]->queue(side);
        Drops drops = core.drops(side);
        for (const Direction direction : {Direction::transmit, Direction::receive}) {
          drops[Drop::impairment_loss] += chain.impairment_counts(direction).lost;
          drops[Drop::impairment_full] += chain.impairment_counts(direction).no_room;
        }
        drops += queue.drops();
        drops[Drop::no_buffer] += queue.transmit().without_buffer();
        all.push_back({machine.port_of(number, side), number, drops});
      }
    });
  return all;
}

uint64_t Engine::device_losses(uint32_t port) const {
  return implementation_->machine.port(port).losses().ierrors;
}

std::vector<PoolStatus> Engine::memory() const {
  std::vector<PoolStatus> sum;
  PoolStatus buffers{"packet buffer", 0, 0, 0};
  implementation_->on_all_cores([&](DataCore& core, Nanoseconds, DataThread& thread) {
    for (const Side side : {Side::client, Side::server}) {
      const BufferPool pool = thread.queue(side).buffers();
      buffers.object_bytes = std::max<uint64_t>(buffers.object_bytes, pool.object_bytes);
      buffers.in_use += pool.count - pool.free;
      buffers.reserved_bytes += pool.reserved_bytes;
    }
    const std::vector<PoolStatus> pools = core.memory();
    if (sum.empty())
      sum = pools;
    else
      for (size_t i = 0; i < pools.size(); ++i) {
        sum[i].in_use += pools[i].in_use;
        sum[i].reserved_bytes += pools[i].reserved_bytes;
      }
  });
  sum.push_back(buffers);
  return sum;
}

std::map<uint32_t, std::pair<uint64_t, uint64_t>> Engine::buffers() const {
  std::map<uint32_t, std::pair<uint64_t, uint64_t>> sizes;
  implementation_->on_all_cores([&](DataCore&, Nanoseconds, DataThread& thread) {
    for (const Side side : {Side::client, Side::server}) {
      const BufferPool pool = thread.queue(side).buffers();
      if (pool.count == 0) continue;
      sizes[pool.object_bytes].first += pool.free;
      sizes[pool.object_bytes].second += pool.count;
    }
  });
  return sizes;
}

std::vector<CoreCycles> Engine::cycles() const {
  std::vector<CoreCycles> cycles;
  implementation_->on_all_cores([&](DataCore&, Nanoseconds, DataThread& thread) {
    CoreCycles core;
    core.core = static_cast<uint32_t>(cycles.size());
    core.cpu = thread.cpu();
    core.pair = static_cast<uint32_t>(core.core % implementation_->machine.pairs());
    core.total = thread.total_cycles();
    core.busy = thread.busy_cycles();
    core.sending = thread.sending_cycles();
    cycles.push_back(core);
  });
  return cycles;
}

uint64_t Engine::tsc_hz() const {
  return implementation_->machine.clock().hz();
}

uint32_t Engine::core_count() const {
  return static_cast<uint32_t>(implementation_->machine.threads().size());
}

uint32_t Engine::cores_per_pair() const {
  return static_cast<uint32_t>(core_count() / implementation_->machine.pairs());
}

double Engine::now() const {
  return static_cast<double>(implementation_->machine.clock().now()) / kSecond;
}

Nanoseconds Engine::wall_epoch() const {
  return implementation_->machine.clock().wall_epoch();
}

}  // namespace engine
