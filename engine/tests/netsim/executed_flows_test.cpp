// Flows that a program opens and waits for (exec_template).

#include <gtest/gtest.h>

#include <set>

#include "netsim/netsim.h"
#include "netsim/several_templates.h"

namespace engine::netsim {
namespace {

using enum Counter;
using nlohmann::json;

const std::string kExecute = R"({"name":"exec_template"})";

std::string set_group(uint32_t group) {
  return R"({"name":"set_template","tg_id":)" + std::to_string(group) + "}";
}

const json kAsk = program(R"({"name":"tx","buf_index":0},{"name":"rx","min_bytes":1000})");
const json kAnswer = program(R"({"name":"rx","min_bytes":4},{"name":"tx","buf_index":3})");
const json kNothing = program(R"({"name":"close_msg"})", false);

/// One flow of `scheduler` that opens those of groups 1 and 2, on ports 81 and 82.
std::string executing(const std::string& scheduler, const json& first = kAsk) {
  const std::string keepalive = R"({"name":"keepalive","msec":60000},)";
  std::vector<json> templates = {flow_template(0, 1, 1, 0),
                                 flow_template(2, 3, 0, 1, {{"port", 81}}),
                                 flow_template(4, 3, 0, 2, {{"port", 82}})};
  templates[0]["client_template"]["limit"] = 1;
  return several({program(keepalive + scheduler, false), kNothing, first, kAnswer, kAsk}, templates,
                 {"one", "two"});
}

CounterBlock group(Network& network, size_t number) {
  return network.run(Side::client).counters(Side::client)[number];
}

TEST(ExecutedFlows, FollowEachOtherFromTheSameAddress) {
  Network network({},
                  executing(set_group(1) + "," + kExecute + "," + kExecute + "," + set_group(2) +
                            "," + kExecute),
                  forever());
  std::set<uint32_t> clients;
  size_t open = 0, most_open = 0;
  network.filter = [&](const Seen& seen) {
    if (seen.kind != PacketKind::tcp || seen.from != Side::client) return true;
    clients.insert(seen.packet.source().low32());
    if (seen.segment.is(tcp::kSyn)) most_open = std::max(most_open, ++open);
    if (seen.segment.is(tcp::kFin)) --open;
    return true;
  };
  ASSERT_TRUE(network.drain(20 * kSecond));
  EXPECT_EQ(clients.size(), 1u);
  EXPECT_EQ(most_open, 1u);
  EXPECT_EQ(group(network, 0)[flows_total], 3u);
  EXPECT_EQ(group(network, 0)[flows_other], 1u);
  EXPECT_EQ(group(network, 1)[tcps_closed], 2u);
  EXPECT_EQ(group(network, 2)[tcps_closed], 1u);
  EXPECT_EQ(group(network, 1)[tcps_rcvbyte], 2000u);
  for (Side side : {Side::client, Side::server})
    for (const PoolStatus& pool : network.core(side).memory())
      EXPECT_EQ(pool.in_use, 0u) << pool.name;
}

TEST(ExecutedFlows, TellTheOneThatWaitsWhichGroupComesNext) {
  const json chooses =
      program(R"({"name":"tx","buf_index":0},{"name":"rx","min_bytes":1000},)" + set_group(2));
  Network network({}, executing(set_group(1) + "," + kExecute + "," + kExecute, chooses),
                  forever());
  ASSERT_TRUE(network.drain(20 * kSecond));
  EXPECT_EQ(group(network, 1)[tcps_closed], 1u);
  EXPECT_EQ(group(network, 2)[tcps_closed], 1u);
}

TEST(ExecutedFlows, WithoutAGroupNothingIsOpened) {
  Network network({}, executing(kExecute), forever());
  ASSERT_TRUE(network.drain(20 * kSecond));
  EXPECT_EQ(group(network, 0)[flows_total], 0u);
  EXPECT_EQ(group(network, 0)[udps_closed], 1u);
}

TEST(ExecutedFlows, GoOnWhenTheOneThatWaitsIsGone) {
  const json slow = program(
      R"({"name":"tx","buf_index":0},{"name":"delay","usec":3000000},{"name":"rx","min_bytes":1000})");
  std::string profile = executing(set_group(1) + "," + kExecute, slow);
  const std::string patient = R"("msec":60000)";
  profile.replace(profile.find(patient), patient.size(), R"("msec":500)");
  Network network({}, profile, forever());
  ASSERT_TRUE(network.drain(20 * kSecond));
  EXPECT_EQ(group(network, 0)[udps_keepdrops], 1u);
  EXPECT_EQ(group(network, 1)[tcps_rcvbyte], 1000u);
  EXPECT_EQ(network.core(Side::client).open_flows(), 0u);
}

/// A group that opens itself, without end: a full flow table is a counted refusal, nothing else.
TEST(ExecutedFlows, ChainsEndWhenTheFlowTableIsFull) {
  Settings settings;
  settings.max_flows = 64;
  std::string profile =
      executing(set_group(1) + "," + kExecute,
                program(R"({"name":"connect"},)" + set_group(1) + "," + kExecute));
  Network network(settings, profile, forever());
  network.run_until(5 * kSecond);
  EXPECT_GT(network.table_counters(Side::client)[err_c_nf_throttled], 0u);
  network.close(Side::client);
  EXPECT_EQ(network.core(Side::client).open_flows(), 0u);
}

}  // namespace
}  // namespace engine::netsim
