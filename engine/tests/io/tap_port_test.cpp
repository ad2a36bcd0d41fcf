// A DPDK device that a kernel shows from its other side: what the engine asked of it can be read.

#include <gtest/gtest.h>
#include <net/if.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstring>
#include <thread>

#include "io/dpdk_port.h"
#include "io/test_memory.h"

namespace engine {
namespace {

constexpr const char* kTapName = "dtap0";

ifreq ask_tap(unsigned long question) {
  const int any = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  ifreq request{};
  std::strcpy(request.ifr_name, kTapName);
  EXPECT_EQ(ioctl(any, question, &request), 0);
  close(any);
  return request;
}

TEST(TapPort, ReceivesGroupsAndTheConfiguredAddress) {
  std::string skipped;
  std::thread([&] {
    if (unshare(CLONE_NEWNET) != 0 || access("/dev/net/tun", R_OK | W_OK) != 0) {
      skipped = "no network namespace or no /dev/net/tun";
      return;
    }
    start_test_memory();
    std::vector<std::string> notices;
    const auto port = open_dpdk_port(
        parse_device_name(std::string("--vdev=net_tap0,iface=") + kTapName), 0, 1, notices);
    EXPECT_TRUE(ask_tap(SIOCGIFFLAGS).ifr_flags & IFF_ALLMULTI);
    const MacAddress own{2, 0, 0, 0, 0, 0x77};
    EXPECT_TRUE(port->receive_for(own));
    const ifreq now = ask_tap(SIOCGIFHWADDR);
    EXPECT_EQ(std::memcmp(now.ifr_hwaddr.sa_data, own.data(), own.size()), 0);
  }).join();
  if (!skipped.empty()) GTEST_SKIP() << skipped;
}

}  // namespace
}  // namespace engine
