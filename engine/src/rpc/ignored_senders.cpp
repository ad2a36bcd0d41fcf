// Senders that are not answered.

#include <algorithm>

#include "rpc/method_table.h"
#include "rpc/methods.h"

namespace engine {

namespace {

using enum ParameterType;

constexpr size_t kMaxIgnored = 1'000;
constexpr uint64_t kMaxMac = 0xffff'ffff'ffff;

/// A list of objects with one integer each, as clients send and read it.
Json checked_list(const Json& params, const char* list, const char* key, uint64_t highest) {
  const Json& entries = params.at(list);
  if (entries.size() > kMaxIgnored)
    throw bad_parameters(std::string("parameter '") + list + "' has more than " +
                         std::to_string(kMaxIgnored) + " entries");
  for (const Json& entry : entries) {
    check_parameters(entry, {{key, integer}});
    integer_in(entry, key, 0, highest);
  }
  return entries;
}

Ignored ignored_of(const ControlState& state) {
  Ignored ignored;
  for (const Json& entry : state.ignored_addresses) ignored.addresses.push_back(entry["ip"]);
  for (const Json& entry : state.ignored_macs) {
    MacAddress mac;
    const uint64_t bits = entry["mac_addr"];
    for (size_t i = 0; i < mac.size(); ++i) mac[i] = static_cast<uint8_t>(bits >> (40 - 8 * i));
    ignored.macs.push_back(mac);
  }
  std::ranges::sort(ignored.addresses);
  std::ranges::sort(ignored.macs);
  return ignored;
}

}  // namespace

void add_ignored_methods(MethodTable& methods, ControlState& state) {
  methods.add("get_ignored_ips", Access::reader, {},
              [&state](const Json&) { return state.ignored_addresses; });
  methods.add("set_ignored_ips", Access::reader, {{"ip_list", array}},
              [&state](const Json& params) {
                state.ignored_addresses = checked_list(params, "ip_list", "ip", UINT32_MAX);
                state.engine.frames.set_ignored(ignored_of(state));
                return Json::object();
              });
  methods.add("get_ignored_macs", Access::reader, {},
              [&state](const Json&) { return state.ignored_macs; });
  methods.add("set_ignored_macs", Access::reader, {{"mac_list", array}},
              [&state](const Json& params) {
                state.ignored_macs = checked_list(params, "mac_list", "mac_addr", kMaxMac);
                state.engine.frames.set_ignored(ignored_of(state));
                return Json::object();
              });
}

}  // namespace engine
