#pragma once
#include <cstdint>
#include <optional>
#include <string>

namespace engine {

/// An IPv4 address (host order) in dotted decimal.
std::string ipv4_text(uint32_t address);

/// Reads dotted decimal; nothing when it is not four numbers from 0 to 255.
std::optional<uint32_t> parse_ipv4(const std::string& text);

}  // namespace engine
