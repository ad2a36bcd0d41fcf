#include "rpc/statistics/device_warnings.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>

namespace engine {

void DeviceWarnings::look() {
  for (uint32_t port = 0; port < told_.size(); ++port) {
    Told& told = told_[port];
    const uint64_t refused = ports_.device_losses(port).oerrors;
    if (refused >= std::max<uint64_t>(1, 2 * told.refused)) {
      told.refused = refused;
      fmt::print(stderr,
                 "astf-engine: port {}: {} frames that its device took were refused by the kernel, "
                 "so nobody received them: stackcost_get_drops, 'refused'\n",
                 port, refused);
    }
    if (!told.assumed_tags && ports_.counters(port).assumed_tags > 0) {
      told.assumed_tags = true;
      fmt::print(stderr,
                 "astf-engine: port {}: its device takes VLAN tags out of frames and does not tell "
                 "their type: all are taken for 802.1Q (0x8100), 802.1ad (0x88a8) too; a packet "
                 "socket (packet:INTERFACE) keeps the type\n",
                 port);
    }
  }
}

}  // namespace engine
