#include <gmock/gmock.h>

#include "net/ethernet.h"
#include "net/ip.h"
#include "rpc/control_client.h"
#include "rpc/test_frame.h"

namespace engine {
namespace {

using ::testing::HasSubstr;

class ServiceMethodsTest : public ControlTest {
 protected:
  ServiceMethodsTest() { acquire(); }

  void service(bool enabled, bool filtered = false, int mask = 0) {
    result("service", {{"enabled", enabled}, {"filtered", filtered}, {"mask", mask}});
  }
};

TEST_F(ServiceMethodsTest, QueuesNeedServiceModeAndKeepTheLastPackets) {
  const Json on = {{"port_id", 0}, {"type", "queue"}, {"enabled", true}, {"size", 2}};
  EXPECT_THAT(refusal("set_rx_feature", on), HasSubstr("only available under service mode"));
  service(true);
  result("set_rx_feature", on);
  for (uint8_t last = 1; last <= 3; ++last) stand_in().pass({{0, false, frame(last)}});
  control_.advance();
  EXPECT_EQ(result("get_port_status", {{"port_id", 0}})["rx_info"]["queue"],
            (Json{{"is_active", true}, {"size", 2}, {"count", 2}}));
  const Json packets = result("get_rx_queue_pkts", {{"port_id", 0}})["pkts"];
  ASSERT_EQ(packets.size(), 2u);
  EXPECT_EQ(packets[0]["index"], 2);
  EXPECT_TRUE(result("get_rx_queue_pkts", {{"port_id", 0}})["pkts"].empty());
  result("set_rx_feature", {{"port_id", 0}, {"type", "queue"}, {"enabled", false}});
  EXPECT_FALSE(stand_in().watched());
}

TEST_F(ServiceMethodsTest, AFilteredQueueHasOtherTrafficInAnyVlan) {
  service(false, true, kNoTcpUdp);
  result("set_rx_feature", {{"port_id", 0}, {"type", "queue"}, {"enabled", true}, {"size", 99}});
  size_t wanted = 0;
  for (const VlanTags tags : {VlanTags{}, vlan_tags(30), VlanTags{0x88a8'001e, 0},
                              vlan_tags(100, 30), VlanTags{0x8100'0064, 0x8100'001e}})
    for (const auto& [type, protocol, queued] : {std::tuple{kEtherTypeArp, uint8_t{0}, true},
                                                 {kEtherTypeIpv4, uint8_t{1}, true},
                                                 {kEtherTypeIpv4, kProtocolTcp, false},
                                                 {kEtherTypeIpv4, kProtocolUdp, false}}) {
      std::vector<uint8_t> bytes(100);
      uint8_t* const ip = bytes.data() + write_ethernet(bytes.data(), {.tags = tags}, type);
      ip[0] = 0x45;
      ip[9] = protocol;
      stand_in().pass({{0, false, bytes}});
      wanted += queued;
    }
  control_.advance();
  EXPECT_EQ(result("get_rx_queue_pkts", {{"port_id", 0}})["pkts"].size(), wanted);
}

TEST_F(ServiceMethodsTest, ServiceModeMayBeginWhileTrafficRuns) {
  load();
  start();
  service(true);
  EXPECT_TRUE(stand_in().service.enabled);
  EXPECT_EQ(result("get_port_status", {{"port_id", 0}})["service"], true);
  service(false, true, kNoTcpUdp | kBgp);
  EXPECT_EQ(stand_in().service, (ServiceMode{false, true, kNoTcpUdp | kBgp}));
  EXPECT_EQ(result("get_port_status", {{"port_id", 0}})["service_filtered"], true);
  EXPECT_EQ(refusal("service", {{"enabled", false}, {"filtered", true}, {"mask", kBgp}}),
            "Cannot disable no_tcp_udp in ASTF!");
}

TEST_F(ServiceMethodsTest, NoTrafficStartsInServiceMode) {
  load();
  service(true);
  EXPECT_THAT(refusal("start", {{"profile_id", "_"}, {"mult", 1}, {"nc", false}, {"duration", 1}}),
              HasSubstr("Service mode"));
}

}  // namespace
}  // namespace engine
