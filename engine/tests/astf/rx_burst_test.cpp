#include "astf/rx_burst.h"

#include <gtest/gtest.h>

#include <array>

namespace engine {
namespace {

// A flow over IPv6 may stand in the bucket of a segment over IPv4 whose low bits are its own.
TEST(RxPacket, OfIpv4IsForNoFlowOverIpv6) {
  constexpr uint32_t kClient = 0x10000001, kServer = 0x30000001;
  std::array<uint8_t, 28> bytes{};  // addresses, and a header of TCP
  store_be<uint32_t>(&bytes[0], kClient);
  store_be<uint32_t>(&bytes[4], kServer);
  store_be<uint16_t>(&bytes[8], 1024);
  store_be<uint16_t>(&bytes[10], 80);
  RxPacket packet{};
  packet.header = &bytes[8];
  FlowIdentity flow{IpAddress::v4(kClient), IpAddress::v4(kServer), 1024, 80, 0};
  EXPECT_TRUE(packet.is_for(flow));
  flow.remote = {0x2001'0db8'0000'0000, kClient};
  flow.local = {0x2001'0db8'0000'0000, kServer};
  EXPECT_FALSE(packet.is_for(flow));
}

}  // namespace
}  // namespace engine
