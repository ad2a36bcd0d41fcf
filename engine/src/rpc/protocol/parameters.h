#pragma once
// Declared parameters of methods, checked once before a method runs.

#include <cstdint>
#include <string>
#include <vector>

#include "net/path.h"
#include "rpc/protocol/json.h"

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

}  // namespace engine
