// Who answers: server templates on their ports, and the choice among those that share one (l7_map).

#include <fmt/format.h>

#include "astf/world.h"

namespace engine {

namespace {

/// What a flow is before its template is known; never run.
const Program kNoProgram{true, false, false, {{}}};

}  // namespace

uint32_t DataCore::World::take_number(TemplateClass& shared) {
  if (free_classes.empty()) {
    context.classes.push_back(&shared);
    return static_cast<uint32_t>(context.classes.size() - 1);
  }
  const uint32_t number = free_classes.back();
  free_classes.pop_back();
  context.classes[number] = &shared;
  return number;
}

void DataCore::World::give_back_number(uint32_t number) {
  context.classes[number] = nullptr;
  free_classes.push_back(number);
}

void DataCore::World::listen(ProfileRun& run) {
  const auto& templates = run.profile().templates;
  auto& numbers = run.class_numbers[index_of(Side::server)];
  // A connection is accepted before its template is known, so all in question accept alike.
  const auto check_alike = [this](const Template& source, uint32_t other) {
    if (other != ServerTable::kNone && *class_at(other).tunables != source.server_tunables)
      throw ProfileError(
          fmt::format("TCP port {}: templates told apart by l7_map must have the same server "
                      "tunables (glob_info) as all others for these addresses",
                      source.server_port));
  };
  try {
    for (size_t t = 0; t < templates.size(); ++t) {
      const Template& source = templates[t];
      TemplateClass& shared = run.flow_class(Side::server, t);
      const bool tcp = shared.program->stream;
      numbers.push_back(take_number(shared));
      if (tcp)
        check_alike(source, servers.find_undecided(tcp, source.server_port, source.server_first));
      if (!source.layer7_map) {
        servers.add(tcp, source.server_port, source.server_first, source.server_last,
                    numbers.back());
        continue;
      }
      if (tcp) check_alike(source, servers.find(tcp, source.server_port, source.server_first));
      servers.add(tcp, source.server_port, source.server_first, source.server_last,
                  *source.layer7_map, numbers.back());
    }
  } catch (...) {
    for (uint32_t number : numbers) {
      servers.remove(number);
      give_back_number(number);
    }
    numbers.clear();
    throw;
  }
}

uint32_t DataCore::World::take_undecided(uint32_t reference) {
  if (free_undecided.empty()) {
    UndecidedClass& made = *undecided.emplace_back(std::make_unique<UndecidedClass>());
    made.number = take_number(made);
    free_undecided.push_back(&made);
  }
  UndecidedClass& taken = *free_undecided.back();
  free_undecided.pop_back();
  static_cast<TemplateClass&>(taken) = class_at(reference);
  taken.program = &kNoProgram;
  taken.reference = reference;
  taken.undecided = &taken;
  taken.payload_check = nullptr;  // what is expected is not known either
  taken.own_counters = {};
  taken.counters = &taken.own_counters;
  ++taken.run->undecided;
  return taken.number;
}

void DataCore::World::give_back_undecided(UndecidedClass& unused) {
  --unused.run->undecided;
  free_undecided.push_back(&unused);
}

void DataCore::World::decide(Flow& flow, uint32_t number) {
  UndecidedClass& known = *class_of(flow).undecided;
  TemplateClass& decided = class_at(number);
  *decided.counters += known.own_counters;
  ++decided.open_flows;
  give_back_undecided(known);
  flow.flow_class = number;
}

bool DataCore::World::choose_template(Flow& flow, const Packet& packet) {
  const uint32_t number = servers.choose(true, packet.destination_port, packet.destination.low32(),
                                         {packet.payload, packet.payload_at_hand});
  if (number == ServerTable::kNone) {
    ++table_counters[index_of(Side::server)][Counter::err_defer_no_template];
    return false;
  }
  decide(flow, number);
  flow.wait = Wait::nothing;
  if (!context.class_of(flow).program->uses_variables || add_variables(flow)) return true;
  ++table_counters[index_of(Side::server)][Counter::err_s_nf_throttled];
  return false;
}

}  // namespace engine
