#include <gmock/gmock.h>

#include "rpc/control_client.h"
#include "rpc/test_frame.h"

namespace engine {
namespace {

using ::testing::HasSubstr;

class SendMethodsTest : public ControlTest {
 protected:
  SendMethodsTest() { acquire(); }
};

TEST_F(SendMethodsTest, PacketsAreSentWithTheAddressesOfThePort) {
  const Json packet = {{"binary", "////////////////iLUBAg=="},
                       {"use_port_src_mac", true},
                       {"use_port_dst_mac", true}};
  const Json sent = result("push_pkts", {{"port_id", 0}, {"pkts", {packet}}, {"force", false}});
  EXPECT_EQ(sent["sent"], 1);
  ASSERT_EQ(stand_in().sent.size(), 1u);
  EXPECT_EQ(stand_in().sent[0].second, frame());
}

TEST_F(SendMethodsTest, PacketsOfABatchLeaveOneGapApart) {
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

TEST_F(SendMethodsTest, APacketThatFailsOnItsWayIsNotTriedForEver) {
  const Json packet = {
      {"binary", kFrame}, {"use_port_src_mac", false}, {"use_port_dst_mac", false}};
  result("push_pkts", {{"port_id", 1}, {"pkts", {packet, packet, packet}}, {"ipg_usec", 100'000}});
  int tried = 0;
  stand_in().on_call = [&tried](const std::string& call) {
    if (call == "send" && ++tried == 1) throw std::runtime_error("no buffer");
  };
  stand_in().now = 0.25;
  for (int turn = 0; turn < 5; ++turn) control_.advance();
  EXPECT_EQ(tried, 2);
  EXPECT_EQ(stand_in().sent.size(), 2u);
}

TEST_F(SendMethodsTest, PacketsThatCannotBeSentAreRefused) {
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

}  // namespace
}  // namespace engine
