#include <gmock/gmock.h>

#include "rpc/control_client.h"

namespace engine {
namespace {

using ::testing::HasSubstr;

class TopologyMethodsTest : public ControlTest {
 protected:
  TopologyMethodsTest() { acquire(); }

  static Json whole(const Json& topology) {
    return {{"fragment", topology.dump()}, {"frag_first", true}, {"frag_last", true}};
  }
};

Json interface(int number) {
  return {{"trex_port", 0}, {"sub_if", number}, {"src_mac", "11:00:00:00:01:00"},
          {"src_ipv4", ""}, {"src_ipv6", ""},   {"vlan", 7}};
}
Json gateway(int number, const std::string& first, const std::string& last) {
  return {{"trex_port", 0},  {"sub_if", number},           {"src_start", first},
          {"src_end", last}, {"dst", "11:00:00:00:03:00"}, {"dst_mac", "11:00:00:00:03:00"}};
}
Json topology(const std::vector<Json>& vifs, const std::vector<Json>& gws) {
  return {{"vifs", vifs}, {"gws", gws}};
}

TEST_F(TopologyMethodsTest, ATopologyComesInPiecesAndGoesWithTheNextStart) {
  const Json sent = topology(
      {interface(1)}, {gateway(1, "16.0.0.0", "16.0.0.9"), gateway(0, "16.0.0.10", "16.0.0.255")});
  const std::string text = sent.dump();
  result("topo_fragment", {{"fragment", text.substr(0, 50)}, {"frag_first", true}});
  EXPECT_TRUE(result("topo_get")["topo_data"]["gws"].empty());
  result("topo_fragment", {{"fragment", text.substr(50)}, {"frag_last", true}});
  EXPECT_EQ(result("topo_get")["topo_data"], sent);

  load();
  start();
  const auto& groups = stand_in().runs.at(1).options.topology->groups();
  ASSERT_EQ(groups.size(), 2u);
  EXPECT_EQ(groups[0].source, (MacAddress{0x11, 0, 0, 0, 1, 0}));
  EXPECT_EQ(groups[0].tags, vlan_tags(7));
  EXPECT_EQ(groups[1].source, std::nullopt);
  EXPECT_EQ(groups[1].destination, (MacAddress{0x11, 0, 0, 0, 3, 0}));

  result("topo_clear");
  EXPECT_TRUE(result("topo_get")["topo_data"]["gws"].empty());
}

TEST_F(TopologyMethodsTest, AnInterfaceMayHaveTwoTags) {
  Json vif = interface(1);
  vif["vlan"] = {100, 30};
  result("topo_fragment", whole(topology({vif}, {gateway(1, "16.0.0.0", "16.0.0.255")})));
  load();
  start();
  EXPECT_EQ(stand_in().runs.at(1).options.topology->groups()[0].tags, vlan_tags(100, 30));
  EXPECT_EQ(result("topo_get")["topo_data"]["vifs"][0]["vlan"], 100);
  vif["vlan"] = {100, 30, 1};
  EXPECT_THAT(refusal("topo_fragment", whole(topology({vif}, {}))), HasSubstr("two VLAN tags"));
}

TEST_F(TopologyMethodsTest, WhatIsNoTopologyIsRefusedAndChangesNothing) {
  const Json good = topology({}, {gateway(0, "16.0.0.0", "16.0.0.9")});
  result("topo_fragment", whole(good));
  const auto refusal_of = [&](const Json& bad) { return refusal("topo_fragment", whole(bad)); };
  EXPECT_THAT(refusal_of("x"), HasSubstr("not a JSON object"));
  EXPECT_THAT(refusal_of(topology({}, {gateway(1, "16.0.0.0", "16.0.0.9")})),
              HasSubstr("no interface 0.1"));
  EXPECT_THAT(refusal_of(topology({}, {gateway(0, "16.0.0.9", "16.0.0.0")})),
              HasSubstr("ends before it starts"));
  EXPECT_THAT(refusal_of(topology(
                  {}, {gateway(0, "16.0.0.0", "16.0.0.9"), gateway(0, "16.0.0.9", "16.0.0.20")})),
              HasSubstr("two gateways for client 16.0.0.9"));
  Json server = gateway(0, "16.0.0.0", "16.0.0.9");
  server["trex_port"] = 1;
  EXPECT_THAT(refusal_of(topology({}, {server})), HasSubstr("port 1 has servers"));
  EXPECT_EQ(result("topo_get")["topo_data"], good);
}

TEST_F(TopologyMethodsTest, ATopologyThatNestsWithoutBoundIsRefused) {
  // Copying or writing such a value would need a stack as deep.
  const std::string piece(500'000, '[');
  result("topo_fragment", {{"fragment", "{\"vifs\": "}, {"frag_first", true}});
  for (int i = 0; i < 4; ++i) result("topo_fragment", {{"fragment", piece}});
  for (int i = 0; i < 4; ++i)
    result("topo_fragment", {{"fragment", std::string(piece.size(), ']')}});
  EXPECT_THAT(refusal("topo_fragment", {{"fragment", ", \"gws\": []}"}, {"frag_last", true}}),
              HasSubstr("nests deeper than 100 levels"));
}

TEST_F(TopologyMethodsTest, IgnoredSendersAreToldToTheDataPath) {
  result("set_ignored_ips", {{"ip_list", {{{"ip", 9}}, {{"ip", 3}}}}});
  result("set_ignored_macs", {{"mac_list", {{{"mac_addr", 0x0200'0000'0001}}}}});
  EXPECT_TRUE(stand_in().ignored.has(3u));
  EXPECT_FALSE(stand_in().ignored.has(4u));
  EXPECT_TRUE(stand_in().ignored.has(MacAddress{2, 0, 0, 0, 0, 1}));
}

}  // namespace
}  // namespace engine
