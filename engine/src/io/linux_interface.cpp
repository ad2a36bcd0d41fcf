#include "io/linux_interface.h"

#include <fmt/format.h>
#include <net/if.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "control/config.h"

namespace engine {
namespace {

/// netdevice(7). Zero where the interface is gone.
ifreq ask(int socket_number, const std::string& name, unsigned long question) {
  ifreq request{};
  name.copy(request.ifr_name, sizeof request.ifr_name - 1);
  if (ioctl(socket_number, question, &request) != 0) return ifreq{};
  return request;
}

}  // namespace

LinuxInterface::LinuxInterface(std::string name)
    : name_(std::move(name)), socket_(socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0)) {
  const bool up = ask(socket_, name_, SIOCGIFFLAGS).ifr_flags & IFF_UP;
  if (up) return;
  close(socket_);
  throw ConfigError(
      fmt::format("interface {} is down; bring it up: ip link set {} up", name_, name_));
}

LinuxInterface::~LinuxInterface() {
  close(socket_);
}

int LinuxInterface::index() const {
  return ask(socket_, name_, SIOCGIFINDEX).ifr_ifindex;
}

MacAddress LinuxInterface::mac() const {
  const ifreq answer = ask(socket_, name_, SIOCGIFHWADDR);
  MacAddress mac{};
  std::memcpy(mac.data(), answer.ifr_hwaddr.sa_data, mac.size());
  return mac;
}

uint32_t LinuxInterface::mtu() const {
  return static_cast<uint32_t>(ask(socket_, name_, SIOCGIFMTU).ifr_mtu);
}

bool LinuxInterface::running() const {
  return ask(socket_, name_, SIOCGIFFLAGS).ifr_flags & IFF_RUNNING;
}

}  // namespace engine
