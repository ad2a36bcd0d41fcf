#include <gmock/gmock.h>

#include "rpc/control_client.h"
#include "rpc/test_frame.h"

namespace engine {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class CaptureMethodsTest : public ControlTest {
 protected:
  CaptureMethodsTest() { acquire(); }

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
};

TEST_F(CaptureMethodsTest, ACaptureKeepsWhatItsFilterLetsThroughUntilFetched) {
  stand_in().now = 3;
  const uint64_t id =
      capture({{"rx", Json::array({1})}, {"limit", 100}, {"filter", "ether[15] = 2"}});
  stand_in().now = 4;
  stand_in().pass({{1, false, frame(2)}, {1, false, frame(3)}, {0, false, frame(2)}});
  control_.advance();
  stand_in().pass({{1, true, frame(2)}, {1, false, frame(2)}});
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

TEST_F(CaptureMethodsTest, FixedKeepsTheFirstFramesAndCyclicTheLast) {
  const uint64_t fixed = capture({{"tx", Json::array({0})}, {"limit", 2}});
  const uint64_t cyclic = capture({{"tx", Json::array({0})}, {"limit", 2}, {"mode", "cyclic"}});
  for (uint8_t last = 1; last <= 3; ++last) stand_in().pass({{0, true, frame(last)}});
  const auto indices = [&](uint64_t id) {
    std::vector<int> all;
    const Json fetched = fetch(id);
    for (const Json& packet : fetched["pkts"]) all.push_back(packet["index"]);
    return all;
  };
  EXPECT_THAT(indices(fixed), ElementsAre(1, 2));
  EXPECT_THAT(indices(cyclic), ElementsAre(2, 3));
}

TEST_F(CaptureMethodsTest, AStoppedCaptureKeepsItsFramesAndTakesNoMore) {
  const uint64_t id = capture({{"rx", Json::array({0})}, {"limit", 10}});
  stand_in().pass({{0, false, frame()}});
  control_.advance();
  const Json stopped = result("capture", {{"command", "stop"}, {"capture_id", id}});
  EXPECT_EQ(stopped, (Json{{"pkt_count", 1}, {"endpoint", ""}}));
  EXPECT_FALSE(stand_in().watched());
  stand_in().pass({{0, false, frame()}});
  EXPECT_EQ(fetch(id)["pkts"].size(), 1u);
  result("capture", {{"command", "remove"}, {"capture_id", id}});
  EXPECT_EQ(refusal("capture", {{"command", "stop"}, {"capture_id", id}}),
            "capture ID 1 does not exist");
}

TEST_F(CaptureMethodsTest, CapturesThatCannotBeAreRefused) {
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

}  // namespace
}  // namespace engine
