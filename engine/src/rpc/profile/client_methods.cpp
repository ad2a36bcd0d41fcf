// Which of the profiles' clients open flows.

#include <fmt/format.h>

#include "rpc/methods.h"

namespace engine {

namespace {

using enum ParameterType;

/// Clients asked for at once: each is an entry of the answer.
constexpr uint64_t kMaxClients = 100'000;
/// "4294967295":{"Found":1,"state":"Inactive"},
constexpr uint64_t kTextPerClient = 45;

AddressRanges addresses_of(const Json& params) {
  const bool in_ranges = params.at("is_range");
  const char* first_name = in_ranges ? "client_start_ip" : "client_ip";
  const char* last_name = in_ranges ? "client_end_ip" : "client_ip";
  AddressRanges addresses;
  for (const Json& entry : params.at("attr")) {
    check_parameters(entry, {{first_name, integer}, {last_name, integer}});
    const uint64_t first = integer_in(entry, first_name, 0, UINT32_MAX);
    const uint64_t last = integer_in(entry, last_name, first, UINT32_MAX);
    addresses.add(static_cast<uint32_t>(first), static_cast<uint32_t>(last));
  }
  return addresses;
}

uint64_t count_of(const AddressRanges& addresses) {
  uint64_t count = 0;
  for (const auto& [first, last] : addresses.ranges()) count += uint64_t{last} - first + 1;
  return count;
}

void ask_for(ControlState& state, AddressRanges addresses) {
  if (state.clients_asked)
    throw refused(
        "Getting client info has already started, use get_clients_info_pull to collect the info");
  if (const uint64_t count = count_of(addresses); count > kMaxClients)
    throw bad_parameters(
        fmt::format("{} clients are asked for; ask for at most {} at a time", count, kMaxClients));
  state.clients_asked = std::move(addresses);
}

/// As TRex tells them, by address as a number in decimal.
Json information(const ClientAddresses& clients, const AddressRanges& asked) {
  Json all = Json::object();
  for (const auto& [first, last] : asked.ranges())
    for (uint64_t address = first; address <= last; ++address) {
      const auto client = static_cast<uint32_t>(address);
      Json& entry = all[std::to_string(client)];
      if (!clients.known.has(client))
        entry = {{"Found", 0}};
      else
        entry = {{"Found", 1}, {"state", clients.disabled.has(client) ? "Inactive" : "Active"}};
    }
  return all;
}

}  // namespace

void add_client_methods(MethodTable& methods, ControlState& state) {
  methods.add("enable_disable_client", Access::reader,
              {{"is_enable", boolean}, {"is_range", boolean}, {"attr", array}},
              [&state](const Json& params) {
                state.engine.runs.enable_clients(addresses_of(params), params.at("is_enable"));
                return Json::object();
              });

  // In two steps, since TRex's cores answer later than its control thread does.
  methods.add("get_clients_info_start", Access::reader, {{"is_range", boolean}, {"attr", array}},
              [&state](const Json& params) {
                ask_for(state, addresses_of(params));
                return Json::object();
              });
  methods.add("get_clients_info_pull", Access::reader, {}, [&state](const Json&) {
    if (!state.clients_asked)
      throw refused("get_clients_info_start has to be called before get_clients_info_pull");
    state.budgets.replies.require(count_of(*state.clients_asked) * kTextPerClient,
                                  "what is told of these clients");
    return information(state.engine.runs.clients(),
                       *std::exchange(state.clients_asked, std::nullopt));
  });
}

}  // namespace engine
