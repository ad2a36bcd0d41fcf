#include "rpc/network/mac_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <charconv>

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

}  // namespace engine
