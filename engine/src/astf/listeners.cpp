#include "astf/listeners.h"

#include <fmt/format.h>

#include "program/program.h"

namespace engine {

namespace {

/// What a flow is before its template is known; never run.
const Program kNoProgram{.commands = {{}}};

}  // namespace

/// A connection is accepted before its template is known, so all in question accept alike.
void Listeners::check_alike(const TemplateClass& own, const Template& source) const {
  for (const uint32_t other :
       servers_.decided_with(true, source.server_port, source.server_first, source.server_last,
                             source.layer7_map.has_value()))
    if (*classes_[other].tunables != *own.tunables)
      throw ProfileError(
          fmt::format("TCP port {}: templates told apart by l7_map must have the same server "
                      "tunables (glob_info) as all others for these addresses",
                      source.server_port));
}

void Listeners::add(ProfileRun& run) {
  const auto& templates = run.profile().templates;
  auto& numbers = run.class_numbers[index_of(Side::server)];
  try {
    for (size_t t = 0; t < templates.size(); ++t) {
      const Template& source = templates[t];
      TemplateClass& template_side = run.flow_class(Side::server, t);
      const bool tcp = template_side.program->stream;
      numbers.push_back(classes_.take(template_side));
      if (tcp) check_alike(template_side, source);
      if (!source.layer7_map) {
        servers_.add(tcp, source.server_port, source.server_first, source.server_last,
                     numbers.back());
        continue;
      }
      servers_.add(tcp, source.server_port, source.server_first, source.server_last,
                   *source.layer7_map, numbers.back());
    }
  } catch (...) {
    remove(run);
    for (uint32_t number : numbers) classes_.give_back(number);
    numbers.clear();
    throw;
  }
}

void Listeners::remove(const ProfileRun& run) {
  servers_.remove(run.class_numbers[index_of(Side::server)]);
}

uint32_t Listeners::find_among(uint16_t port, uint32_t address) {
  const uint32_t undecided = servers_.find_undecided(true, port, address);
  return undecided == kNone ? servers_.find(true, port, address) : take_undecided(undecided);
}

uint32_t Listeners::find_udp(const RxSegment& packet) const {
  return servers_.choose(false, packet.destination_port(), packet.destination().low32(),
                         packet.payload());
}

uint32_t Listeners::take_undecided(uint32_t reference) {
  UndecidedClass& taken = undecided_[undecided_.take()];
  if (taken.number == UndecidedClass::kNone) taken.number = classes_.take(taken);
  static_cast<TemplateClass&>(taken) = classes_[reference];
  taken.program = &kNoProgram;
  taken.reference = reference;
  taken.undecided = &taken;
  taken.only_slow_path = true;
  taken.payload_check = nullptr;  // what is expected is not known either
  taken.own_counters = {};
  taken.counters = &taken.own_counters;
  return taken.number;
}

void Listeners::give_back(uint32_t number) {
  if (UndecidedClass* const unused = classes_[number].undecided) give_back(*unused);
}

void Listeners::give_back(UndecidedClass& unused) {
  undecided_.give_back(undecided_.number_of(unused));
}

void Listeners::decide(Flow& flow, uint32_t number) {
  UndecidedClass& known = *classes_.of(flow).undecided;
  TemplateClass& decided = classes_[number];
  *decided.counters += known.own_counters;
  --known.run->open_flows[index_of(Side::server)];
  ++decided.run->open_flows[index_of(Side::server)];
  give_back(known);
  flow.flow_class = number;
}

bool Listeners::choose(Flow& flow, const RxSegment& packet) {
  const uint32_t number = servers_.choose(true, packet.destination_port(),
                                          packet.destination().low32(), packet.payload());
  if (number == kNone) return false;
  decide(flow, number);
  flow.wait = Wait::nothing;
  if (context_.class_of(flow).program->uses_variables) context_.add_variables(flow);
  return true;
}

}  // namespace engine
