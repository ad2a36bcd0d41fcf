// Programs with variables, at both ends of every kind of flow.

#include <gtest/gtest.h>

#include "netsim/netsim.h"
#include "netsim/several_templates.h"

namespace engine::netsim {
namespace {

using enum Counter;
using nlohmann::json;

/// Each command that has to do with them; waits a millisecond, and counts it.
const std::string kEveryCommand =
    R"({"name":"set_var","id":0,"val":3},{"name":"add_var","id":0,"val":-1},)"
    R"({"name":"set_tick_var","id":1},{"name":"add_tick_var","id":1,"duration":0.0},)"
    R"({"name":"jmp_nz","id":0,"offset":0},{"name":"delay","usec":100},)"
    R"({"name":"jmp_dp","id":1,"offset":-1,"duration":0.001},)"
    R"({"name":"jmp_cmp","id":0,"offset":2,"cmp_op":"ne","cmp_val":0},)"
    R"({"name":"add_stats","stats_id":0,"val":1},)"
    R"({"name":"add_tick_stats","stats_id":1,"var_id":1},)";

struct Flows {
  const char* name;
  bool stream;
  json association;
};

class Variables : public testing::TestWithParam<Flows> {};

TEST_P(Variables, AreAtHandInEveryProgramThatNamesThem) {
  const bool stream = GetParam().stream;
  const std::string client =
      stream ? R"({"name":"tx","buf_index":0},{"name":"rx","min_bytes":1000})"
             : R"({"name":"tx_msg","buf_index":0},{"name":"rx_msg","min_pkts":1})";
  const std::string server =
      stream ? R"({"name":"rx","min_bytes":4},{"name":"tx","buf_index":3})"
             : R"({"name":"rx_msg","min_pkts":1},{"name":"tx_msg","buf_index":3})";
  RunOptions options;
  options.duration = kSecond;
  Network network(
      {},
      several({program(kEveryCommand + client, stream), program(kEveryCommand + server, stream)},
              {flow_template(0, 1, 50, 0, GetParam().association)}, {}),
      options);
  ASSERT_TRUE(network.drain(10 * kSecond));
  const uint64_t flows = network.status(Side::client).opened;
  EXPECT_GT(flows, 40u);
  for (const Side side : {Side::client, Side::server})
    EXPECT_EQ(network.count(side, user_counter_A), flows);
}

const json kWithoutVariables = {{"port", 80}};
const json kByPayload = {{"port", 80}, {"l7_map", {{"offset", {0, 1}}}}};

INSTANTIATE_TEST_SUITE_P(Programs, Variables,
                         testing::Values(Flows{"tcp", true, kWithoutVariables},
                                         Flows{"tcp_by_payload", true, kByPayload},
                                         Flows{"udp", false, kWithoutVariables},
                                         Flows{"udp_by_payload", false, kByPayload}),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace engine::netsim
