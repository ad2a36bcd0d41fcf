// What is told of connections while a run goes on.

#include <gtest/gtest.h>

#include "netsim/netsim.h"

namespace engine::netsim {
namespace {

constexpr uint32_t kRequest = 100;
constexpr uint32_t kResponse = 32'000;

RunOptions sampled() {
  RunOptions options = forever();
  options.samples_flows = true;
  return options;
}

/// Flows that have said all they have to say, and stay open for a second.
std::string lingering(double cps) {
  return profile({.request = kRequest,
                  .response = kResponse,
                  .cps = cps,
                  .client_commands =
                      R"({"name":"tx","buf_index":0},{"name":"rx","min_bytes":32000},)"
                      R"({"name":"delay","usec":1000000})"});
}

std::vector<tcp::Info> sampled(Network& network, Side side) {
  return network.core(side).sampled_flows(network.run(side), network.now());
}

TEST(FlowSampler, TellsOfOneConnectionOfEachSideToItsEnd) {
  Network network({}, lingering(20), sampled());
  EXPECT_TRUE(sampled(network, Side::client).empty());
  network.run_until(400 * kMillisecond);
  const std::vector<tcp::Info> clients = sampled(network, Side::client);
  const std::vector<tcp::Info> servers = sampled(network, Side::server);
  ASSERT_EQ(clients.size(), 1u);
  ASSERT_EQ(servers.size(), 1u);
  const tcp::Info& client = clients[0];
  const tcp::Info& server = servers[0];
  EXPECT_EQ(client.side, Side::client);
  EXPECT_EQ(server.side, Side::server);
  EXPECT_EQ(client.local, server.remote);
  EXPECT_EQ(client.local_port, server.remote_port);
  // The server has closed. SYN and FIN count as one each.
  EXPECT_EQ(client.state, FlowState::close_wait);
  EXPECT_EQ(server.state, FlowState::fin_wait_2);
  EXPECT_EQ(client.sent, kRequest + 1);
  EXPECT_EQ(client.received, kResponse + 2);
  EXPECT_EQ(server.sent, kResponse + 2);
  EXPECT_EQ(server.received, kRequest + 1);
  EXPECT_TRUE(client.timestamps && client.sack && client.scaling);
  EXPECT_NEAR(client.rtt_us, 100, 20);  // twice the wire's delay
  EXPECT_GT(client.timeout, 0);
  EXPECT_NEAR(static_cast<double>(client.age), 290e6, 2e6);  // the first opens after 110 ms

  network.run_until(800 * kMillisecond);
  ASSERT_EQ(sampled(network, Side::client).size(), 1u);
  EXPECT_EQ(sampled(network, Side::client)[0].local_port, client.local_port);
  EXPECT_NEAR(static_cast<double>(sampled(network, Side::client)[0].since_received), 400e6, 1e6);
  network.run_until(3 * kSecond);
  ASSERT_EQ(sampled(network, Side::client).size(), 1u);
  EXPECT_NE(sampled(network, Side::client)[0].local, client.local);
}

TEST(FlowSampler, WithNoConnectionItTellsOfNone) {
  Network network({}, lingering(0.4), sampled());  // one in 2.5 s
  network.run_until(300 * kMillisecond);
  EXPECT_EQ(sampled(network, Side::client).size(), 1u);
  network.run_until(2'400 * kMillisecond);  // its TIME_WAIT is over
  EXPECT_TRUE(sampled(network, Side::client).empty());
  EXPECT_TRUE(sampled(network, Side::server).empty());
}

TEST(FlowSampler, NotAskedForItSamplesNothing) {
  Network network({}, lingering(20), forever());
  network.run_until(400 * kMillisecond);
  EXPECT_TRUE(sampled(network, Side::client).empty());
}

}  // namespace
}  // namespace engine::netsim
