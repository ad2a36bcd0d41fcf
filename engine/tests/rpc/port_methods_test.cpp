#include <gmock/gmock.h>

#include "rpc/control_client.h"

namespace engine {
namespace {

using ::testing::HasSubstr;

class PortMethodsTest : public ControlTest {
 protected:
  PortMethodsTest() { acquire(); }

  static Json attribute(const char* name, const Json& value) {
    return {{"port_id", 0}, {"attr", {{name, value}}}};
  }
  Json attributes() { return result("get_port_status", {{"port_id", 0}})["attr"]; }
};

TEST_F(PortMethodsTest, AttributesThatTheDeviceHasAreSet) {
  stand_in().ports[0].flow_control = 0;
  result("set_port_attr", attribute("promiscuous", {{"enabled", true}}));
  result("set_port_attr", attribute("multicast", {{"enabled", true}}));
  result("set_port_attr", attribute("link_status", {{"up", false}}));
  result("set_port_attr", attribute("flow_ctrl_mode", {{"mode", 3}}));
  EXPECT_EQ(attributes()["promiscuous"]["enabled"], true);
  EXPECT_EQ(attributes()["multicast"]["enabled"], true);
  EXPECT_EQ(attributes()["link"]["up"], false);
  EXPECT_EQ(attributes()["fc"]["mode"], 3);
  EXPECT_EQ(result("get_system_info")["ports"][0]["is_fc_supported"], true);
}

TEST_F(PortMethodsTest, AttributesThatTheDeviceDoesNotHaveAreRefusedByName) {
  EXPECT_EQ(refusal("set_port_attr", attribute("flow_ctrl_mode", {{"mode", 1}})),
            "Port 0: its device cannot change 'flow_ctrl_mode'");
  EXPECT_THAT(refusal("set_port_attr", attribute("led_status", {{"on", true}})),
              HasSubstr("cannot change 'led_status'"));
  EXPECT_THAT(refusal("set_port_attr", attribute("flow_ctrl_mode", {{"mode", 4}})),
              HasSubstr("mode"));
  EXPECT_EQ(result("get_system_info")["ports"][0]["is_fc_supported"], false);
}

TEST_F(PortMethodsTest, Ipv6AddressesAreThoseOfTheMacAndOfTheUser) {
  const auto configure = [&](bool enabled, const std::string& address) {
    result("conf_ipv6", {{"port_id", 0}, {"enabled", enabled}, {"src_ipv6", address}});
    return attributes()["layer_cfg"]["ipv6"];
  };
  EXPECT_EQ(configure(true, ""), (Json{{"enabled", true}, {"src", "fe80::ff:fe00:0"}}));
  EXPECT_EQ(configure(true, "2001:db8:0::9"), (Json{{"enabled", true}, {"src", "2001:db8::9"}}));
  EXPECT_EQ(stand_in().ports[0].address.ipv6_address->low, 9u);
  for (const char* wrong : {"10.0.0.1", "ff02::1", "fe80::g"})
    EXPECT_THAT(refusal("conf_ipv6", {{"port_id", 0}, {"enabled", true}, {"src_ipv6", wrong}}),
                HasSubstr("must be a unicast IPv6 address"));
  EXPECT_EQ(attributes()["layer_cfg"]["ipv6"]["src"], "2001:db8::9");
  EXPECT_EQ(configure(false, ""), (Json{{"enabled", false}}));
}

TEST_F(PortMethodsTest, ExtendedStatisticsAreNamedAndCountedPerPort) {
  EXPECT_EQ(result("get_port_xstats_names", {{"port_id", 1}})["xstats_names"],
            (Json{"rx_good_packets", "capture_ring_full"}));
  EXPECT_EQ(result("get_port_xstats_values", {{"port_id", 1}})["xstats_values"], (Json{6, 0}));
  // The client takes one port's names for all ports'.
  EXPECT_EQ(result("get_port_xstats_names", {{"port_id", 0}}),
            result("get_port_xstats_names", {{"port_id", 1}}));
  EXPECT_EQ(result("get_port_xstats_values", {{"port_id", 0}})["xstats_values"], (Json{5, 0}));
}

}  // namespace
}  // namespace engine
