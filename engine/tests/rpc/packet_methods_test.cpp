#include <gmock/gmock.h>

#include "rpc/control_client.h"

namespace engine {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class PacketMethodsTest : public ControlTest {
 protected:
  PacketMethodsTest() { acquire(); }

  uint64_t capture(Json params) {
    params.update({{"command", "start"}, {"mode", params.value("mode", "fixed")}});
    for (const char* list : {"tx", "rx"})
      if (!params.contains(list)) params[list] = Json::array();
    return result("capture", params)["capture_id"];
  }
  Json fetch(uint64_t id, int most = 50, int snap = 0) {
    return result(
        "capture",
        {{"command", "fetch"}, {"capture_id", id}, {"pkt_limit", most}, {"snaplen", snap}});
  }
  void service(bool enabled, bool filtered = false, int mask = 0) {
    result("service", {{"enabled", enabled}, {"filtered", filtered}, {"mask", mask}});
  }
};

constexpr const char* kFrame = "AgAAAAABAgAAAAAAiLUBAg==";  // type 0x88b5, payload 1 2

std::vector<uint8_t> frame(uint8_t last = 2) {
  return {2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 0, 0x88, 0xb5, 1, last};
}

TEST_F(PacketMethodsTest, ACaptureKeepsWhatItsFilterLetsThroughUntilFetched) {
  stand_in().now = 3;
  const uint64_t id =
      capture({{"rx", Json::array({1})}, {"limit", 100}, {"filter", "ether[15] = 2"}});
  stand_in().now = 4;
  stand_in().passing = {{1, false, frame(2)}, {1, false, frame(3)}, {0, false, frame(2)}};
  control_.advance();
  stand_in().passing = {{1, true, frame(2)}, {1, false, frame(2)}};
  const Json first = fetch(id, 1);
  EXPECT_EQ(first["start_ts"], 3);
  EXPECT_EQ(first["pending"], 1);
  EXPECT_EQ(first["pkts"][0], (Json{{"binary", kFrame},
                                    {"origin", "RX"},
                                    {"ts", 4.0},
                                    {"index", 1},
                                    {"port", 1},
                                    {"wirelen", 16}}));
  const Json second = fetch(id, 50, 12);
  EXPECT_EQ(second["pending"], 0);
  EXPECT_EQ(second["pkts"][0]["binary"], "AgAAAAABAgAAAAAA");
  const Json status = result("capture", {{"command", "status"}});
  ASSERT_EQ(status.size(), 1u);
  EXPECT_EQ(status[0]["state"], "ACTIVE");
  EXPECT_EQ(status[0]["matched"], 2);
  EXPECT_EQ(status[0]["fetched"], 2);
  EXPECT_EQ(status[0]["filter"], (Json{{"tx", 0}, {"rx", 2}, {"bpf", "ether[15] = 2"}}));
}

TEST_F(PacketMethodsTest, FixedKeepsTheFirstFramesAndCyclicTheLast) {
  const uint64_t fixed = capture({{"tx", Json::array({0})}, {"limit", 2}});
  const uint64_t cyclic = capture({{"tx", Json::array({0})}, {"limit", 2}, {"mode", "cyclic"}});
  for (uint8_t last = 1; last <= 3; ++last) stand_in().passing.push_back({0, true, frame(last)});
  const auto indices = [&](uint64_t id) {
    std::vector<int> all;
    const Json fetched = fetch(id);
    for (const Json& packet : fetched["pkts"]) all.push_back(packet["index"]);
    return all;
  };
  EXPECT_THAT(indices(fixed), ElementsAre(1, 2));
  EXPECT_THAT(indices(cyclic), ElementsAre(2, 3));
}

TEST_F(PacketMethodsTest, AStoppedCaptureKeepsItsFramesAndTakesNoMore) {
  const uint64_t id = capture({{"rx", Json::array({0})}, {"limit", 10}});
  stand_in().passing = {{0, false, frame()}};
  control_.advance();
  const Json stopped = result("capture", {{"command", "stop"}, {"capture_id", id}});
  EXPECT_EQ(stopped, (Json{{"pkt_count", 1}, {"endpoint", ""}}));
  EXPECT_TRUE(stand_in().watches.empty());
  stand_in().passing = {{0, false, frame()}};
  EXPECT_EQ(fetch(id)["pkts"].size(), 1u);
  result("capture", {{"command", "remove"}, {"capture_id", id}});
  EXPECT_EQ(refusal("capture", {{"command", "stop"}, {"capture_id", id}}),
            "capture ID 1 does not exist");
}

TEST_F(PacketMethodsTest, CapturesThatCannotBeAreRefused) {
  const Json start = {{"command", "start"},  {"limit", 1},          {"mode", "fixed"},
                      {"tx", Json::array()}, {"rx", Json::array()}, {"filter", "no such thing"}};
  EXPECT_EQ(refusal("capture", start), "BPF filter: 'no such thing' is not a valid pattern");
  for (int i = 0; i < 10; ++i) capture({{"rx", Json::array({0})}, {"limit", 1}});
  Json eleventh = start;
  eleventh["filter"] = "";
  EXPECT_THAT(refusal("capture", eleventh), HasSubstr("limit of 10"));
  eleventh["rx"] = {7};
  EXPECT_THAT(refusal("capture", eleventh), HasSubstr("port_id"));
}

TEST_F(PacketMethodsTest, PacketsAreSentWithTheAddressesOfThePort) {
  const Json packet = {{"binary", "////////////////iLUBAg=="},
                       {"use_port_src_mac", true},
                       {"use_port_dst_mac", true}};
  const Json sent = result("push_pkts", {{"port_id", 0}, {"pkts", {packet}}, {"force", false}});
  EXPECT_EQ(sent["sent"], 1);
  ASSERT_EQ(stand_in().sent.size(), 1u);
  EXPECT_EQ(stand_in().sent[0].second, frame());
}

TEST_F(PacketMethodsTest, PacketsOfABatchLeaveOneGapApart) {
  const Json packet = {
      {"binary", kFrame}, {"use_port_src_mac", false}, {"use_port_dst_mac", false}};
  const Json pushed = result(
      "push_pkts", {{"port_id", 1}, {"pkts", {packet, packet, packet}}, {"ipg_usec", 100'000}});
  EXPECT_EQ(pushed["sent"], 3);
  EXPECT_EQ(stand_in().sent.size(), 1u);
  EXPECT_LE(control_.advance(), 0.1);
  stand_in().now = 0.15;
  control_.advance();
  EXPECT_EQ(stand_in().sent.size(), 2u);
  stand_in().now = 0.2;
  control_.advance();
  EXPECT_EQ(stand_in().sent.size(), 3u);
}

TEST_F(PacketMethodsTest, PacketsThatCannotBeSentAreRefused) {
  const auto push = [&](const std::string& binary, int gap) {
    const Json packet = {
        {"binary", binary}, {"use_port_src_mac", false}, {"use_port_dst_mac", false}};
    return refusal("push_pkts", {{"port_id", 0}, {"pkts", {packet, packet}}, {"ipg_usec", gap}});
  };
  EXPECT_THAT(push("AgAA", 0), HasSubstr("Bad packet size provided: 3"));
  EXPECT_THAT(push("*", 0), HasSubstr("base64"));
  EXPECT_THAT(push(kFrame, 900'000), HasSubstr("exceeds the limit of 1 second"));
  EXPECT_TRUE(stand_in().sent.empty());
}

TEST_F(PacketMethodsTest, QueuesNeedServiceModeAndKeepTheLastPackets) {
  const Json on = {{"port_id", 0}, {"type", "queue"}, {"enabled", true}, {"size", 2}};
  EXPECT_THAT(refusal("set_rx_feature", on), HasSubstr("only available under service mode"));
  service(true);
  result("set_rx_feature", on);
  for (uint8_t last = 1; last <= 3; ++last) stand_in().passing.push_back({0, false, frame(last)});
  control_.advance();
  EXPECT_EQ(result("get_port_status", {{"port_id", 0}})["rx_info"]["queue"],
            (Json{{"is_active", true}, {"size", 2}, {"count", 2}}));
  const Json packets = result("get_rx_queue_pkts", {{"port_id", 0}})["pkts"];
  ASSERT_EQ(packets.size(), 2u);
  EXPECT_EQ(packets[0]["index"], 2);
  EXPECT_TRUE(result("get_rx_queue_pkts", {{"port_id", 0}})["pkts"].empty());
  result("set_rx_feature", {{"port_id", 0}, {"type", "queue"}, {"enabled", false}});
  EXPECT_TRUE(stand_in().watches.empty());
}

TEST_F(PacketMethodsTest, ServiceModeMayBeginWhileTrafficRuns) {
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

TEST_F(PacketMethodsTest, NoTrafficStartsInServiceMode) {
  load();
  service(true);
  EXPECT_THAT(refusal("start", {{"profile_id", "_"}, {"mult", 1}, {"nc", false}, {"duration", 1}}),
              HasSubstr("Service mode"));
}

}  // namespace
}  // namespace engine
