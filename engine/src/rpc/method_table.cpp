#include "rpc/method_table.h"

#include <fmt/format.h>

#include "net/address_text.h"
#include "rpc/rpc_error.h"

namespace engine {

namespace {

bool has_type(const Json& value, ParameterType type) {
  switch (type) {
    case ParameterType::boolean:
      return value.is_boolean();
    case ParameterType::integer:
      return value.is_number_integer();
    case ParameterType::number:
      return value.is_number();
    case ParameterType::string:
      return value.is_string();
    case ParameterType::array:
      return value.is_array();
    case ParameterType::object:
      return value.is_object();
  }
  return false;
}

const char* name_of(ParameterType type) {
  switch (type) {
    case ParameterType::boolean:
      return "a boolean";
    case ParameterType::integer:
      return "an integer";
    case ParameterType::number:
      return "a number";
    case ParameterType::string:
      return "a string";
    case ParameterType::array:
      return "an array";
    case ParameterType::object:
      return "an object";
  }
  return "";
}

}  // namespace

void check_parameters(const Json& params, const std::vector<Parameter>& declared) {
  for (const Parameter& parameter : declared) {
    const auto found = params.find(parameter.name);
    if (found == params.end()) {
      if (parameter.required)
        throw bad_parameters(
            fmt::format("parameter '{}' ({}) is missing", parameter.name, name_of(parameter.type)));
    } else if (!has_type(*found, parameter.type)) {
      throw bad_parameters(fmt::format("parameter '{}' must be {}, not {}", parameter.name,
                                       name_of(parameter.type), found->type_name()));
    }
  }
}

uint64_t integer_in(const Json& params, const std::string& name, uint64_t first, uint64_t last) {
  const Json& value = params.at(name);
  if (value.is_number_unsigned()) {
    const uint64_t number = value.get<uint64_t>();
    if (number >= first && number <= last) return number;
  }
  throw bad_parameters(fmt::format("parameter '{}' must be an integer from {} to {}, not {}", name,
                                   first, last, dump_json(value)));
}

uint64_t integer_or(uint64_t otherwise, const Json& params, const std::string& name, uint64_t first,
                    uint64_t last) {
  return params.contains(name) ? integer_in(params, name, first, last) : otherwise;
}

uint32_t ipv4_of(const Json& params, const std::string& name) {
  const std::string text = params.at(name);
  if (const auto address = parse_ipv4(text)) return *address;
  throw bad_parameters(fmt::format("parameter '{}' must be an IPv4 address, not '{}'", name, text));
}

MacAddress mac_of(const Json& params, const std::string& name) {
  const std::string text = params.at(name);
  if (const auto mac = parse_mac(text)) return *mac;
  throw bad_parameters(fmt::format("parameter '{}' must be a MAC address, not '{}'", name, text));
}

VlanTags vlan_tags_of(const Json& params, const std::string& name) {
  const Json value = params.value(name, Json());
  const Json ids = value.is_null() || value == 0 ? Json::array()
                   : value.is_array()            ? value
                                                 : Json::array({value});
  if (ids.size() > 2)
    throw bad_parameters(fmt::format("parameter '{}' must have two VLAN tags at most", name));
  const auto id = [&](size_t i) {
    if (i >= ids.size()) return uint16_t{0};
    return static_cast<uint16_t>(integer_in({{name, ids[i]}}, name, 1, kMaxVlan));
  };
  VlanTags tags = vlan_tags(id(0), id(1));
  const Json types = params.value("tpids", Json());
  if (types.is_null()) return tags;
  if (!types.is_array() || types.size() != ids.size())
    throw bad_parameters(
        fmt::format("parameter 'tpids' must be a list, of one type for each tag in '{}'", name));
  size_t i = 0;
  for (uint32_t* const tag : {&tags.outer, &tags.inner}) {
    if (i == types.size()) break;
    const uint64_t type = integer_in({{"tpids", types[i++]}}, "tpids", 0, UINT16_MAX);
    if (!is_vlan_type(static_cast<uint16_t>(type)))
      throw bad_parameters(fmt::format(
          "parameter 'tpids' must have 33024 (0x8100) and 34984 (0x88a8), not {}", type));
    *tag = static_cast<uint32_t>(type) << 16 | (*tag & kVlanIdMask);
  }
  return tags;
}

void MethodTable::add(std::string name, Access access, std::vector<Parameter> parameters,
                      std::function<Json(const Json&)> run) {
  add_method(std::move(name), access, std::move(parameters),
             [run = std::move(run)](const Json& params) {
               return Outcome{run(params), {}};
             });
}

void MethodTable::add_waiting(std::string name, Access access, std::vector<Parameter> parameters,
                              std::function<Later(const Json&)> begin) {
  add_method(std::move(name), access, std::move(parameters),
             [begin = std::move(begin)](const Json& params) {
               return Outcome{{}, begin(params)};
             });
}

void MethodTable::add_method(std::string name, Access access, std::vector<Parameter> parameters,
                             std::function<Outcome(const Json&)> run) {
  if (access == Access::owner || access == Access::port_owner)
    parameters.push_back({"handler", ParameterType::string});
  if (access == Access::port_owner) parameters.push_back({"port_id", ParameterType::integer});
  methods_.emplace(std::move(name), Method{access, std::move(parameters), std::move(run)});
}

void MethodTable::refuse(std::string name, std::string words) {
  const auto run = [words = std::move(words)](const Json&) -> Outcome { throw refused(words); };
  methods_.emplace(std::move(name), Method{Access::reader, {}, run, false});
}

const Method* MethodTable::find(const std::string& name) const {
  const auto found = methods_.find(name);
  return found == methods_.end() ? nullptr : &found->second;
}

std::vector<std::string> MethodTable::names() const {
  std::vector<std::string> names;
  for (const auto& [name, method] : methods_)
    if (method.supported) names.push_back(name);
  return names;
}

}  // namespace engine
