#include <gmock/gmock.h>

#include "net/address_text.h"
#include "rpc/control_client.h"

namespace engine {
namespace {

tcp::Info connection(uint16_t port) {
  tcp::Info info;
  info.local = IpAddress::v4(0x10000001);
  info.remote = IpAddress::v4(0x30000001);
  info.local_port = port;
  info.remote_port = 80;
  info.state = FlowState::close_wait;
  info.scaling = info.sack = true;
  info.send_scale = 7;
  info.rtt_us = 125;
  info.timeout = 200 * kMillisecond;
  info.sent = 101;
  return info;
}

class FlowSamplesTest : public ControlTest {
 protected:
  FlowSamplesTest() {
    acquire();
    load();
    stand_in().sampled_flows = {{connection(1024)}, {}};
  }
  Json samples(uint64_t first = 0) {
    return result("get_flow_info", {{"profile_id", "_"}, {"index", first}});
  }
};

TEST_F(FlowSamplesTest, AreTakenAsOftenAsAskedForAndNumbered) {
  start({{"dump_interval", 0.5}});
  EXPECT_TRUE(samples().empty());
  pass(1.1);
  ASSERT_EQ(samples().size(), 2u);
  EXPECT_EQ(samples()[1]["index"], 1);
  EXPECT_EQ(samples(1).size(), 1u);
  EXPECT_TRUE(samples(2).empty());
  EXPECT_EQ(samples(99).size(), 2u);  // of an earlier run
  const Json flow = samples()[0]["16.0.0.1:1024-48.0.0.1:80"];
  EXPECT_EQ(flow["origin"], "client");
  EXPECT_EQ(flow["state"], 5);
  EXPECT_EQ(flow["options"], "/sack/wscale");
  EXPECT_EQ(flow["snd_wscale"], 7);
  EXPECT_EQ(flow["rtt"], 0.125);
  EXPECT_EQ(flow["rto"], 200);
  EXPECT_EQ(flow["snd_nxt"], 101);
  EXPECT_TRUE(flow["snd_rexmitpack"].is_null());

  pass(60);  // those of the last 10 s stay, two cores
  EXPECT_EQ(samples().size(), 40u);
  EXPECT_GT(samples()[0]["index"], 70);
  result("stop", {{"profile_id", "_"}});
  pass(1);
  EXPECT_EQ(samples().size(), 40u);
  start();
  pass(2);
  EXPECT_TRUE(samples().empty());
}

TEST_F(FlowSamplesTest, Ipv6AddressesStandInBrackets) {
  tcp::Info& info = stand_in().sampled_flows[0][0];
  info.local = *parse_ipv6("2001:db8::1");
  info.side = Side::server;
  start({{"dump_interval", 0.001}});
  EXPECT_GE(samples().size(), 5u);
  EXPECT_TRUE(samples()[0].contains("[2001:db8::1]:1024-48.0.0.1:80"));
}

TEST_F(FlowSamplesTest, OfAnUnknownProfileAreRefused) {
  EXPECT_EQ(refusal("get_flow_info", {{"profile_id", "none"}}), "Invalid profile : none");
}

TEST_F(FlowSamplesTest, PacketBuffersAreCountedBySize) {
  EXPECT_EQ(result("get_utilization")["mbuf_stats"],
            (Json{{"cpu-socket-0", {{"2176b", {900, 1000}}}}}));
}

}  // namespace
}  // namespace engine
