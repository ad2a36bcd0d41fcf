#include "io/xdp_sockets.h"

#include <linux/if_xdp.h>
#include <sys/socket.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <string>

namespace engine {

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
