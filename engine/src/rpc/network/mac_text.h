#pragma once
#include <optional>
#include <string>

#include "net/path.h"

namespace engine {

/// "02:00:00:00:00:01".
std::string mac_text(const MacAddress& mac);

/// Reads what mac_text writes, in either case; nothing when it is anything else.
std::optional<MacAddress> parse_mac(const std::string& text);

}  // namespace engine
