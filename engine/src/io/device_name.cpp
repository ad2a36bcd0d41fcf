#include "io/device_name.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <net/if.h>

#include <cstdio>
#include <memory>
#include <optional>
#include <vector>

#include "control/config.h"

namespace engine {
namespace {

std::vector<std::string> interface_names() {
  const std::unique_ptr<struct if_nameindex, decltype(&if_freenameindex)> list(if_nameindex(),
                                                                               if_freenameindex);
  std::vector<std::string> names;
  for (const auto* entry = list.get(); entry != nullptr && entry->if_index != 0; ++entry)
    names.emplace_back(entry->if_name);
  return names;
}

/// A PCI address with its domain (0000 when left out).
std::optional<std::string> pci_address(const std::string& text) {
  unsigned domain = 0;
  unsigned bus = 0;
  unsigned device = 0;
  unsigned function = 0;
  int end = 0;
  const char* at = text.c_str();
  if (sscanf(at, "%4x:%2x:%2x.%1x%n", &domain, &bus, &device, &function, &end) != 4) {
    domain = 0;
    if (sscanf(at, "%2x:%2x.%1x%n", &bus, &device, &function, &end) != 3) return std::nullopt;
  }
  if (text.size() != static_cast<size_t>(end)) return std::nullopt;
  return fmt::format("{:04x}:{:02x}:{:02x}.{:x}", domain, bus, device, function);
}

}  // namespace

DeviceName parse_device_name(const std::string& text) {
  if (text == "dummy") return {DeviceKind::dummy, text, ""};
  if (text == "wire") return {DeviceKind::wire, text, ""};
  if (if_nametoindex(text.c_str()) != 0) return {DeviceKind::interface, text, ""};
  constexpr std::string_view kPacket = "packet:";
  if (text.starts_with(kPacket) && if_nametoindex(text.c_str() + kPacket.size()) != 0)
    return {DeviceKind::packet_socket, text.substr(kPacket.size()), ""};
  if (const auto address = pci_address(text)) return {DeviceKind::pci, *address, ""};
  constexpr std::string_view kOption = "--vdev=";
  const std::string device = text.starts_with(kOption) ? text.substr(kOption.size()) : text;
  if (device.starts_with("net_") || device.starts_with("eth_")) {
    const size_t comma = device.find(',');
    const std::string arguments = comma == device.npos ? "" : device.substr(comma + 1);
    const bool memif = device.starts_with("net_memif");
    return {memif ? DeviceKind::memif : DeviceKind::virtual_device, device.substr(0, comma),
            arguments};
  }
  throw ConfigError(fmt::format(
      "no network device \"{}\": the interfaces of this network namespace are {}, each also by "
      "packet sockets (packet:eth1); other ports are written as a PCI address (0000:03:00.0), a "
      "memif (net_memif0,role=client), a virtual device of DPDK (net_ring0), \"dummy\", or "
      "\"wire\"",
      text, fmt::join(interface_names(), ", ")));
}

}  // namespace engine
