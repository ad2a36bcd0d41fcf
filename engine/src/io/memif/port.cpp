#include "io/memif/port.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <random>
#include <string_view>

#include "control/config.h"
#include "io/memif/control.h"
#include "io/memif/queue.h"
#include "net/address_text.h"

namespace engine {
namespace {

/// What DPDK's driver says of its devices' MTU.
constexpr uint32_t kMtu = 1500;

uint32_t argument_number(std::string_view argument, std::string_view text, uint32_t least,
                         uint32_t most) {
  uint32_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || value < least || value > most)
    throw ConfigError(
        fmt::format("memif: {}={}: a number from {} to {} is wanted", argument, text, least, most));
  return value;
}

template <typename... Choices>
std::string_view one_of(std::string_view argument, std::string_view text, Choices... choices) {
  for (const std::string_view choice : {std::string_view(choices)...})
    if (text == choice) return choice;
  std::string all;
  for (const std::string_view choice : {std::string_view(choices)...})
    all += fmt::format("{}{}", all.empty() ? "" : ", ", choice);
  throw ConfigError(fmt::format("memif: {}={}: one of {} is wanted", argument, text, all));
}

/// A locally administered address (IEEE 802): the other end may be an engine as well.
MacAddress random_mac() {
  MacAddress mac{};
  std::random_device random;
  for (uint8_t& byte : mac) byte = static_cast<uint8_t>(random());
  mac[0] = 0x02;
  return mac;
}

/// `mac` is left as it is where the arguments name none.
memif::Settings settings_of(const DeviceName& device, uint32_t cores, MacAddress& mac) {
  memif::Settings settings;
  settings.name = device.name;
  settings.queues = cores;
  for (std::string_view rest = device.arguments; !rest.empty();) {
    const std::string_view argument = rest.substr(0, rest.find(','));
    rest.remove_prefix(std::min(rest.size(), argument.size() + 1));
    const size_t equals = std::min(argument.find('='), argument.size());
    const std::string_view name = argument.substr(0, equals);
    const std::string_view value = argument.substr(std::min(equals + 1, argument.size()));
    if (name == "role")
      settings.server = one_of(name, value, "client", "server") == "server";
    else if (name == "id")
      settings.id = argument_number(name, value, 0, UINT32_MAX);
    else if (name == "socket")
      settings.socket = value;
    else if (name == "socket-abstract")
      settings.abstract = one_of(name, value, "yes", "no") == "yes";
    else if (name == "rsize")
      settings.ring_bits = argument_number(name, value, 1, memif::kMostRingBits);
    else if (name == "bsize")
      settings.buffer_bytes = argument_number(name, value, 64, UINT16_MAX);
    else if (name == "secret" && value.size() < sizeof memif::Init::secret)
      settings.secret = value;
    else if (const auto asked = name == "mac" ? parse_mac(std::string(value)) : std::nullopt)
      mac = *asked;
    else
      throw ConfigError(fmt::format(
          "memif: what is {}? There are role, id, socket, socket-abstract, rsize (the logarithm "
          "of a ring's size), bsize (bytes of a buffer), secret (at most 23 bytes), and mac",
          argument));
  }
  return settings;
}

class MemifPort final : public Port {
 public:
  MemifPort(const DeviceName& device, uint32_t cores)
      : own_(random_mac()), link_(settings_of(device, cores, own_)) {
    info_.driver = "net_memif";
    info_.description = device.name;
    info_.pci_address = "N/A";
    if (cores > 1) info_.over_rings = "the device has no RSS";
    mac_ = own_;
    for (uint32_t core = 0; core < cores; ++core) {
      auto queue = std::make_unique<memif::Queue>(link_, core);
      rings_.push_back(queue.get());
      queues_.push_back(std::move(queue));
    }
    control_ = memif::Control::with(link_);
  }
  ~MemifPort() override { control_->leave(link_); }

  bool link_up() const override { return link_.memory() != nullptr; }
  uint32_t mtu() const override { return kMtu; }
  void receive_whole(bool enabled) override {
    for (memif::Queue* queue : rings_) queue->copy_payload(enabled);
  }

 private:
  MacAddress own_;
  memif::Link link_;
  std::vector<memif::Queue*> rings_;  ///< in queues_
  std::shared_ptr<memif::Control> control_;
};

}  // namespace

std::unique_ptr<Port> open_memif_port(const DeviceName& device, uint32_t cores) {
  return std::make_unique<MemifPort>(device, cores);
}

}  // namespace engine
