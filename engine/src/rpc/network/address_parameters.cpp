#include "rpc/network/address_parameters.h"

#include <fmt/format.h>

#include "net/address_text.h"
#include "rpc/network/mac_text.h"
#include "rpc/protocol/rpc_error.h"

namespace engine {

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

}  // namespace engine
