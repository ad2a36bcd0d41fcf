#include "rpc/network/addresses.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <charconv>

#include "net/address_text.h"
#include "rpc/protocol/rpc_error.h"

namespace engine {

std::string mac_text(const MacAddress& mac) {
  return fmt::format("{:02x}", fmt::join(mac, ":"));
}

std::optional<MacAddress> parse_mac(const std::string& text) {
  constexpr size_t kTextLength = 17;
  if (text.size() != kTextLength) return std::nullopt;
  MacAddress mac{};
  for (size_t i = 0; i < mac.size(); ++i) {
    const char* digits = text.data() + 3 * i;
    if (std::from_chars(digits, digits + 2, mac[i], 16).ptr != digits + 2) return std::nullopt;
    if (i + 1 < mac.size() && digits[2] != ':') return std::nullopt;
  }
  return mac;
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

}  // namespace engine
