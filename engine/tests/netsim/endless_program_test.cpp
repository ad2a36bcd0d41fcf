// Programs that never send, receive or wait again are ended, others with long loops are not.

#include <gtest/gtest.h>

#include "netsim/netsim.h"
#include "netsim/several_templates.h"

namespace engine::netsim {
namespace {

using enum Counter;

/// 0 - 1 is not zero, and counts down from 2^64.
const std::string kForEver =
    R"({"name":"set_var","id":0,"val":0},{"name":"jmp_nz","id":0,"offset":0})";

struct Ends {
  const char* name;
  bool stream;
  Side side;  ///< whose program has it
  std::string prefix;
};

/// A request and a response, with `prefix` before what `side` does; 20 flows.
Network network_of(const Ends& ends) {
  const auto mine = [&ends](Side side) { return side == ends.side ? ends.prefix + "," : ""; };
  const std::string client =
      ends.stream ? R"({"name":"tx","buf_index":0},{"name":"rx","min_bytes":1000})"
                  : R"({"name":"tx_msg","buf_index":0},{"name":"rx_msg","min_pkts":1})";
  const std::string server =
      ends.stream ? R"({"name":"rx","min_bytes":4},{"name":"tx","buf_index":3})"
                  : R"({"name":"rx_msg","min_pkts":1},{"name":"tx_msg","buf_index":3})";
  RunOptions options;
  options.duration = 400 * kMillisecond;
  return {{},
          several({program(mine(Side::client) + client, ends.stream),
                   program(mine(Side::server) + server, ends.stream)},
                  {flow_template(0, 1, 50, 0)}, {}),
          options};
}

class Endless : public testing::TestWithParam<Ends> {};

TEST_P(Endless, IsEndedAndNamed) {
  Network network = network_of(GetParam());
  ASSERT_TRUE(network.drain(5 * kSecond)) << "the flows go on";
  const Side side = GetParam().side;
  const uint64_t flows = network.status(side).established;
  EXPECT_GT(flows, 10u);
  EXPECT_EQ(network.core(side).drops(side)[Drop::endless_program], flows);
  if (GetParam().stream) {
    EXPECT_EQ(network.count(side, tcps_drops), flows);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Programs, Endless,
    testing::Values(Ends{"OfAClient", true, Side::client, R"({"name":"connect"},)" + kForEver},
                    Ends{"OfAServer", true, Side::server, kForEver},
                    Ends{"OfDatagrams", false, Side::client, kForEver},
                    Ends{"OfReceivingNothing", true, Side::client,
                         R"({"name":"connect"},{"name":"set_var","id":0,"val":0},)"
                         R"({"name":"rx","min_bytes":0},{"name":"jmp_nz","id":0,"offset":-1})"}),
    [](const auto& info) { return std::string(info.param.name); });

class LongLoop : public testing::TestWithParam<Ends> {};

TEST_P(LongLoop, GoesOn) {
  Network network = network_of(GetParam());
  ASSERT_TRUE(network.drain(20 * kSecond));
  const Side side = GetParam().side;
  EXPECT_GT(network.status(side).established, 10u);
  EXPECT_EQ(network.core(side).drops(side)[Drop::endless_program], 0u);
  EXPECT_EQ(network.count(Side::client, tcps_drops), 0u);
}

INSTANTIATE_TEST_SUITE_P(
    Programs, LongLoop,
    testing::Values(
        Ends{"ThatCounts", true, Side::client,
             R"({"name":"set_var","id":0,"val":100000},{"name":"jmp_nz","id":0,"offset":0})"},
        Ends{
            "ThatAsksTheClock", true, Side::server,
            R"({"name":"set_tick_var","id":0},{"name":"jmp_dp","id":0,"offset":0,"duration":0.3})"},
        Ends{"ThatSends", false, Side::client,
             R"({"name":"set_var","id":0,"val":5000},{"name":"tx_msg","buf_index":0},)"
             R"({"name":"jmp_nz","id":0,"offset":-1})"}),
    [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace engine::netsim
