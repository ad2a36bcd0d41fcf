#pragma once
// Addresses as text.

#include <cstdint>
#include <optional>
#include <string>

#include "net/address.h"
#include "net/l2_header.h"

namespace engine {

/// An IPv4 address (host order) in dotted decimal.
std::string ipv4_text(uint32_t address);

/// Reads dotted decimal; nothing when it is not four numbers from 0 to 255.
std::optional<uint32_t> parse_ipv4(const std::string& text);

/// An IPv6 address as RFC 5952 writes it.
std::string ipv6_text(const IpAddress& address);

/// Reads an IPv6 address in any form of RFC 4291 section 2.2; nothing when it is none.
std::optional<IpAddress> parse_ipv6(const std::string& text);

/// "02:00:00:00:00:01".
std::string mac_text(const MacAddress& mac);

/// Reads what mac_text writes, in either case; nothing when it is anything else.
std::optional<MacAddress> parse_mac(const std::string& text);

}  // namespace engine
