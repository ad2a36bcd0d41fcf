// Cores that run out of frame buffers now and then: nothing is lost by that, and no flow hangs.

#include <gtest/gtest.h>

#include "base/random.h"
#include "netsim/netsim.h"
#include "netsim/several_templates.h"

namespace engine::netsim {
namespace {

using enum Counter;

/// Runs the network to the end; each side is without buffers for half of the time, by turns of up
/// to `longest`.
bool drain_with_shortages(Network& network, Nanoseconds longest, Nanoseconds limit) {
  Random random(3);
  const auto most = static_cast<uint64_t>(longest);
  while (network.now() < limit) {
    for (const Side side : {Side::client, Side::server})
      network.withhold_frames(side, random.between(0, 1) == 0);
    network.run_until(network.now() + static_cast<Nanoseconds>(random.between(1, most)));
    const RunStatus status = network.status(Side::client);
    if (status.phase != RunPhase::opening && network.core(Side::client).open_flows() == 0 &&
        network.core(Side::server).open_flows() == 0)
      return true;
  }
  return false;
}

class NoFrame : public testing::TestWithParam<Nanoseconds> {};

TEST_P(NoFrame, EveryConnectionIsWhole) {
  const std::string tunables = R"({"keepinit":60,"keepidle":2})";
  RunOptions options;
  options.duration = 2 * kSecond;
  Network network(
      {}, profile({.response = 20'000, .cps = 100, .client_tcp = tunables, .server_tcp = tunables}),
      options);
  ASSERT_TRUE(drain_with_shortages(network, GetParam(), 120 * kSecond));
  const CounterBlock client = network.counters(Side::client);
  const CounterBlock server = network.counters(Side::server);
  EXPECT_GT(client[tcps_nombuf], 0u);
  EXPECT_GT(server[tcps_nombuf], 0u);
  EXPECT_GT(client[tcps_connects], 180u);
  EXPECT_EQ(client[tcps_connects], client[tcps_connattempt]);
  EXPECT_EQ(client[tcps_connects], server[tcps_accepts]);
  EXPECT_EQ(client[tcps_rcvbyte], client[tcps_connects] * 20'000);
  EXPECT_EQ(server[tcps_rcvbyte], client[tcps_connects] * 100);
  for (const CounterBlock* block : {&client, &server})
    EXPECT_EQ((*block)[tcps_drops] + (*block)[tcps_conndrops], 0u);
}

TEST_P(NoFrame, EveryDatagramIsSent) {
  const std::string patience = R"({"name":"keepalive","msec":60000})";
  RunOptions options;
  options.duration = 2 * kSecond;
  Network network(
      {},
      several(
          {program(patience + R"(,{"name":"tx_msg","buf_index":0},{"name":"rx_msg","min_pkts":2})",
                   false),
           program(patience + R"(,{"name":"rx_msg","min_pkts":1},{"name":"tx_msg","buf_index":1},)"
                              R"({"name":"tx_msg","buf_index":3})",
                   false)},
          {flow_template(0, 1, 100, 0)}, {}),
      options);
  ASSERT_TRUE(drain_with_shortages(network, GetParam(), 120 * kSecond));
  const CounterBlock client = network.counters(Side::client);
  const CounterBlock server = network.counters(Side::server);
  EXPECT_GT(client[udps_nombuf], 0u);
  EXPECT_GT(client[udps_connects], 180u);
  EXPECT_EQ(client[udps_sndpkt], client[udps_connects]);
  EXPECT_EQ(client[udps_rcvpkt], 2 * client[udps_connects]);
  EXPECT_EQ(server[udps_rcvpkt], client[udps_connects]);
  EXPECT_EQ(client[udps_keepdrops] + server[udps_keepdrops], 0u);
}

INSTANTIATE_TEST_SUITE_P(Shortages, NoFrame,
                         testing::Values(5 * kMillisecond, 100 * kMillisecond, kSecond),
                         [](const auto& info) {
                           return "UpTo" + std::to_string(info.param / kMillisecond) + "ms";
                         });

}  // namespace
}  // namespace engine::netsim
