#include "io/linux_interface.h"

#include <fmt/format.h>
#include <linux/if_xdp.h>
#include <net/if.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <string>
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

std::vector<int> xdp_sockets() {
  std::vector<int> sockets;
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd", ignored)) {
    const std::string name = entry.path().filename();
    int descriptor = 0;
    std::from_chars(name.data(), name.data() + name.size(), descriptor);
    int domain = 0;
    socklen_t length = sizeof domain;
    if (getsockopt(descriptor, SOL_SOCKET, SO_DOMAIN, &domain, &length) == 0 && domain == AF_XDP)
      sockets.push_back(descriptor);
  }
  std::ranges::sort(sockets);
  return sockets;
}

uint64_t refused_frames(const std::vector<int>& sockets) {
  uint64_t refused = 0;
  for (const int descriptor : sockets) {
    xdp_statistics statistics{};
    socklen_t length = sizeof statistics;
    if (getsockopt(descriptor, SOL_XDP, XDP_STATISTICS, &statistics, &length) == 0)
      refused += statistics.tx_invalid_descs;
  }
  return refused;
}

}  // namespace engine
