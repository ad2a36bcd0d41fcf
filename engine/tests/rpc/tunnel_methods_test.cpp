#include <gmock/gmock.h>

#include "rpc/control_client.h"

namespace engine::in_tunnels {
namespace {

using ::testing::HasSubstr;

constexpr uint32_t kClient = 0x10000000;

class TunnelMethodsTest : public ControlTest {
 protected:
  TunnelMethodsTest() { acquire(); }

  void activate(bool loopback = true) {
    result("activate_tunnel_mode",
           {{"tunnel_type", 1}, {"activate", true}, {"loopback", loopback}});
  }
  static Json whole(const Json& topology) {
    return {{"fragment", topology.dump()}, {"frag_first", true}, {"frag_last", true}};
  }
  static Json record(uint32_t client, uint32_t teid) {
    return {{"client_ip", client}, {"sip", "1.1.1.11"}, {"dip", "12.2.2.2"},
            {"sport", 5000},       {"teid", teid},      {"version", 4}};
  }
  static Json update(const Json& one) { return {{"tunnel_type", 1}, {"attr", Json::array({one})}}; }
  static Json range(const std::string& first, const std::string& last) {
    return {{"src_start", first}, {"src_end", last},      {"initial_teid", 100},
            {"teid_jump", 2},     {"sport", 5000},        {"version", 4},
            {"tunnel_type", 1},   {"src_ip", "1.1.1.11"}, {"dst_ip", "12.2.2.2"},
            {"activate", true}};
  }
  static Json topology(const std::vector<Json>& tunnels, const std::vector<Json>& latency = {}) {
    return {{"tunnels", tunnels}, {"latency", latency}};
  }
};

TEST_F(TunnelMethodsTest, TheModeIsTurnedOnAndOffWhileNothingRuns) {
  EXPECT_EQ(result("is_tunnel_supported", {{"tunnel_type", 1}})["is_tunnel_supported"], true);
  EXPECT_EQ(result("is_tunnel_supported", {{"tunnel_type", 2}})["is_tunnel_supported"], false);
  EXPECT_EQ(refusal("activate_tunnel_mode", {{"activate", false}}),
            "The tunnel mode is already off");
  EXPECT_EQ(refusal("update_tunnel_client", update(record(1, 1))),
            "The tunnel mode needs to be activated");
  EXPECT_EQ(refusal("tunnel_topo_get"),
            "Tunnel mode has to be activated in order to use Tunnel Topology");
  EXPECT_THAT(refusal("activate_tunnel_mode", {{"tunnel_type", 2}, {"activate", true}}),
              HasSubstr("tunnel type is not supported"));
  activate();
  EXPECT_TRUE(stand_in().tunnels_active && stand_in().tunnels_loopback);
  EXPECT_EQ(refusal("activate_tunnel_mode", {{"tunnel_type", 1}, {"activate", true}}),
            "The tunnel mode have been already activated");
  load();
  start();
  EXPECT_THAT(refusal("activate_tunnel_mode", {{"activate", false}}), HasSubstr("should be IDLE"));
  EXPECT_THAT(refusal("tunnel_topo_clear"), HasSubstr("should be IDLE"));
  result("stop", {{"profile_id", "_"}});
  pass(1);
  result("activate_tunnel_mode", {{"tunnel_type", 1}, {"activate", false}});
  EXPECT_FALSE(stand_in().tunnels_active);
}

TEST_F(TunnelMethodsTest, PortsThatCannotSayWhy) {
  stand_in().no_tunnels = "port 0 spreads frames";
  EXPECT_EQ(result("is_tunnel_supported", {{"tunnel_type", 1}})["error_msg"],
            "Tunnel is not supported: port 0 spreads frames");
  EXPECT_THAT(refusal("activate_tunnel_mode", {{"tunnel_type", 1}, {"activate", true}}),
              HasSubstr("port 0 spreads frames"));
  EXPECT_FALSE(stand_in().tunnels_active);
}

TEST_F(TunnelMethodsTest, ClientsAreGivenTunnelsWhileTrafficRuns) {
  activate(false);
  load();
  start();
  result("update_tunnel_client", update(record(kClient, 7)));
  result("update_tunnel_client", update(record(kClient + 1, 8)));
  result("update_tunnel_client", update(record(kClient, 9)));
  const Tunnel wanted{IpAddress::v4(0x0101010b), IpAddress::v4(0x0c020202), 9, 5000};
  EXPECT_EQ(stand_in().tunnels->find(kClient), wanted);
  EXPECT_EQ(stand_in().tunnels->find(kClient + 1)->teid, 8u);
  Json six = record(kClient, 1);
  six["version"] = 6;
  EXPECT_THAT(refusal("update_tunnel_client", update(six)), HasSubstr("unicast IPv6 address"));
  six["sip"] = "2001:db8::1";
  six["dip"] = "2001:db8::2";
  result("update_tunnel_client", update(six));
  EXPECT_EQ(stand_in().tunnels->find(kClient)->source.low, 1u);
  for (const auto& [name, bad] : {std::pair<const char*, Json>{"version", 5},
                                  {"sport", 65536},
                                  {"teid", -1},
                                  {"sip", "1.1.1"},
                                  {"client_ip", "16.0.0.1"}}) {
    Json one = record(kClient, 1);
    one[name] = bad;
    EXPECT_THAT(refusal("update_tunnel_client", update(one)), HasSubstr(name));
  }
}

TEST_F(TunnelMethodsTest, ATopologyGivesRangesOfClientsTunnels) {
  activate();
  EXPECT_EQ(result("tunnel_topo_get")["tunnel_topo_data"], R"({"tunnels": [], "latency": []})");
  const Json sent =
      topology({range("16.0.0.0", "16.0.0.255")},
               {{{"client_port_id", 0}, {"client_ip", "16.0.0.3"}, {"server_ip", "48.0.0.4"}}});
  result("tunnel_topo_fragment", whole(sent));
  EXPECT_EQ(result("tunnel_topo_get")["tunnel_topo_data"], sent.dump());
  EXPECT_EQ(stand_in().tunnels->find(kClient + 3)->teid, 106u);
  EXPECT_FALSE(stand_in().tunnels->find(kClient + 256));
  load();
  result("start",
         {{"profile_id", "_"}, {"mult", 1}, {"nc", false}, {"duration", 1}, {"latency_pps", 10}});
  pass(0.1);
  EXPECT_EQ(stand_in().latency.at(0).source, kClient + 3);
  EXPECT_EQ(stand_in().latency.at(0).destination, 0x30000004u);
  result("stop", {{"profile_id", "_"}});
  pass(1);
  result("tunnel_topo_clear");
  EXPECT_FALSE(stand_in().tunnels->find(kClient + 3));
}

TEST_F(TunnelMethodsTest, WhatIsNoTopologyIsRefusedAndChangesNothing) {
  activate();
  result("tunnel_topo_fragment", whole(topology({range("16.0.0.0", "16.0.0.9")})));
  const auto refusal_of = [&](const Json& bad) {
    return refusal("tunnel_topo_fragment", whole(bad));
  };
  EXPECT_THAT(refusal_of("x"), HasSubstr("not a JSON object"));
  EXPECT_THAT(refusal_of(topology({range("16.0.0.9", "16.0.0.0")})), HasSubstr("ends before"));
  EXPECT_THAT(refusal_of(topology({range("16.0.0.5", "16.0.0.20"), range("16.0.0.0", "16.0.0.9")})),
              HasSubstr("two tunnels for client 16.0.0.5"));
  Json off = range("16.0.0.0", "16.0.0.9");
  off["activate"] = false;
  EXPECT_THAT(refusal_of(topology({off})), HasSubstr("set_client_enable"));
  const Json odd = {{"client_port_id", 1}, {"client_ip", "1.1.1.1"}, {"server_ip", "1.1.1.2"}};
  EXPECT_THAT(refusal_of(topology({}, {odd})), HasSubstr("is odd"));
  Json even = odd;
  even["client_port_id"] = 0;
  EXPECT_THAT(refusal_of(topology({}, {even, even})), HasSubstr("1 pairs"));
  EXPECT_TRUE(stand_in().tunnels->find(kClient));
}

}  // namespace
}  // namespace engine::in_tunnels
