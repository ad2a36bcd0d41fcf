#pragma once
// The methods clients may call, by name, and their parameters, checked before a method runs.

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "json/json_text.h"
#include "net/l2_header.h"

namespace engine {

enum class ParameterType : uint8_t { boolean, integer, number, string, array, object };

struct Parameter {
  std::string name;
  ParameterType type;
  bool required = true;
};

/// Shorthand for declarations.
inline Parameter optional(std::string name, ParameterType type) {
  return {std::move(name), type, false};
}

/// Throws RpcError -32602 that names the first missing parameter or the first of another type.
/// Parameters that are not declared are let pass.
void check_parameters(const Json& params, const std::vector<Parameter>& declared);

/// An integer parameter that must lie in [first, last]; throws RpcError -32602 with the range.
uint64_t integer_in(const Json& params, const std::string& name, uint64_t first, uint64_t last);
/// The same of an optional one: `otherwise` when it is not there.
uint64_t integer_or(uint64_t otherwise, const Json& params, const std::string& name, uint64_t first,
                    uint64_t last);
/// An IPv4 address, in host order, and a MAC address; both throw RpcError -32602 that names the
/// parameter.
uint32_t ipv4_of(const Json& params, const std::string& name);
MacAddress mac_of(const Json& params, const std::string& name);
/// VLAN tags by their identifiers, a number or a list of up to two, the outer one first; 0, null or
/// an empty list: none. `tpids` beside them may name their types, a list of as many; left out, one
/// is 802.1Q's, and the outer one of two 802.1ad's. Throws RpcError -32602 that names the
/// parameter.
VlanTags vlan_tags_of(const Json& params, const std::string& name);

/// Looks what became of a request; nullopt: nothing yet, look again later. Throws RpcError.
using Later = std::function<std::optional<Json>()>;

/// What a method returns: its result, or how to learn it.
struct Outcome {
  Json result;
  Later later;  ///< none: `result` is there
};

/// Who may call a method.
enum class Access : uint8_t {
  anyone,      ///< also before the API handshake
  reader,      ///< after the handshake
  owner,       ///< with the handler that acquire returned
  port_owner,  ///< with the handler of the port it names, or of the context
};

struct Method {
  Access access;
  std::vector<Parameter> parameters;
  /// Gets parameters that have been checked; throws RpcError.
  std::function<Outcome(const Json& params)> run;
  bool supported = true;
};

class MethodTable {
 public:
  void add(std::string name, Access access, std::vector<Parameter> parameters,
           std::function<Json(const Json&)> run);
  /// A method whose result may take its time. `begin` throws RpcError for what it refuses at once.
  void add_waiting(std::string name, Access access, std::vector<Parameter> parameters,
                   std::function<Later(const Json&)> begin);
  /// Has `name` refused with `words`.
  void refuse(std::string name, std::string words);
  /// nullptr when there is no such method.
  const Method* find(const std::string& name) const;
  /// Those that are not refused.
  std::vector<std::string> names() const;

 private:
  void add_method(std::string name, Access access, std::vector<Parameter> parameters,
                  std::function<Outcome(const Json&)> run);

  std::map<std::string, Method> methods_;
};

}  // namespace engine
