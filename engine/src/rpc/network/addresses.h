#pragma once
// MAC addresses as text, and addresses as methods' parameters.

#include <cstdint>
#include <optional>
#include <string>

#include "net/path.h"
#include "rpc/protocol/json.h"

namespace engine {

/// "02:00:00:00:00:01".
std::string mac_text(const MacAddress& mac);

/// Reads what mac_text writes, in either case; nothing when it is anything else.
std::optional<MacAddress> parse_mac(const std::string& text);

/// In host order. Throws RpcError -32602 that names the parameter.
uint32_t ipv4_of(const Json& params, const std::string& name);
/// Throws RpcError -32602 that names the parameter.
MacAddress mac_of(const Json& params, const std::string& name);

}  // namespace engine
