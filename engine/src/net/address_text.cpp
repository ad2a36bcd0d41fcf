#include "net/address_text.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <charconv>

namespace engine {

std::string ipv4_text(uint32_t address) {
  return fmt::format("{}.{}.{}.{}", address >> 24, (address >> 16) & 255, (address >> 8) & 255,
                     address & 255);
}

std::optional<uint32_t> parse_ipv4(const std::string& text) {
  in_addr address;
  if (inet_pton(AF_INET, text.c_str(), &address) != 1) return std::nullopt;
  return ntohl(address.s_addr);
}

std::string ipv6_text(const IpAddress& address) {
  in6_addr bytes;
  store_be(bytes.s6_addr, address.high);
  store_be(bytes.s6_addr + 8, address.low);
  char text[INET6_ADDRSTRLEN];
  return inet_ntop(AF_INET6, &bytes, text, sizeof text);
}

std::optional<IpAddress> parse_ipv6(const std::string& text) {
  in6_addr address;
  if (inet_pton(AF_INET6, text.c_str(), &address) != 1) return std::nullopt;
  return IpAddress::v6(address.s6_addr);
}

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
