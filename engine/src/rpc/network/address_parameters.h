#pragma once
// Addresses as methods' parameters.

#include <cstdint>
#include <string>

#include "net/path.h"
#include "rpc/protocol/json.h"

namespace engine {

/// In host order. Throws RpcError -32602 that names the parameter.
uint32_t ipv4_of(const Json& params, const std::string& name);
/// Throws RpcError -32602 that names the parameter.
MacAddress mac_of(const Json& params, const std::string& name);

}  // namespace engine
