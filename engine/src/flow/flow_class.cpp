#include "flow/flow_class.h"

#include <algorithm>
#include <cstring>

#include "base/time.h"
#include "net/compose.h"
#include "net/ethernet.h"
#include "net/tcp_header.h"

namespace engine {

namespace {

uint8_t scale_for(uint32_t buffer) {
  uint8_t scale = 0;
  while (scale < tcp::kMaxWindowScale && (uint32_t{UINT16_MAX} << scale) < buffer) ++scale;
  return scale;
}

}  // namespace

uint16_t Tunables::mss_within(uint32_t mtu) const {
  constexpr uint32_t kTcpLength = 20;
  const auto headers = static_cast<uint32_t>(ipv6 ? kIpv6Length : kIpv4Length) + kTcpLength;
  if (mtu == 0 || mss + headers <= mtu) return mss;
  return static_cast<uint16_t>(std::max(mtu, headers + kLeastMss) - headers);
}

void FlowClass::set_tunables(const Tunables& those) {
  tunables = &those;
  uint8_t head[2 + kIpv4Length];
  store_be<uint16_t>(head, kEtherTypeIpv4);
  compose_ipv4(head + 2, 0, 0, kProtocolTcp, 0, those.tos_with(0), those.ttl, false);
  std::memcpy(ipv4_head, head, sizeof ipv4_head);
  receive_scale = those.timestamps_and_scaling ? scale_for(those.receive_buffer) : 0;
  windows[0] = std::min<uint32_t>(those.receive_buffer, UINT16_MAX);
  windows[1] = std::min<uint32_t>(those.receive_buffer >> receive_scale, UINT16_MAX);
  offers = static_cast<uint8_t>(
      (those.timestamps_and_scaling ? tcp::kOffersTimestamps | tcp::kOffersScaling : 0) |
      (those.sack ? tcp::kOffersSack : 0));
  keep_init = ticks_for(those.keep_init_s * kSecond);
  keep_idle = ticks_for(those.keep_idle_s * kSecond);
}

}  // namespace engine
