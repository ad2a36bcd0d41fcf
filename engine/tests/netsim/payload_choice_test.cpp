// Templates that share a port and are told apart by their first payload (l7_map).

#include <gtest/gtest.h>

#include "netsim/netsim.h"
#include "netsim/several_templates.h"

namespace engine::netsim {
namespace {

using enum Counter;
using nlohmann::json;

const json kByFirstBytes = {{"port", 80}, {"l7_map", {{"offset", {0, 1}}}}};

json send(uint32_t buffer, uint32_t response) {
  return program(R"({"name":"tx","buf_index":)" + std::to_string(buffer) +
                 R"(},{"name":"rx","min_bytes":)" + std::to_string(response) + "}");
}

json answer(uint32_t buffer) {
  return program(R"({"name":"rx","min_bytes":4},{"name":"tx","buf_index":)" +
                 std::to_string(buffer) + "}");
}

/// Groups A and B by payload; C by the port alone, when there is one.
std::string tcp_profile(bool with_rest) {
  std::vector<json> templates = {flow_template(0, 3, 40, 1, kByFirstBytes),
                                 flow_template(1, 4, 20, 2, kByFirstBytes)};
  if (with_rest) templates.push_back(flow_template(2, 3, 30, 3));
  return several({send(0, 1000), send(1, 4), send(2, 1000), answer(3), answer(1)}, templates,
                 {"A", "B", "C"});
}

/// Counters of both sides agree in every group.
void expect_balanced(Network& network) {
  const auto client = network.run(Side::client).counters(Side::client);
  const auto server = network.run(Side::server).counters(Side::server);
  for (size_t group = 0; group < client.size(); ++group) {
    SCOPED_TRACE(group);
    EXPECT_EQ(client[group][tcps_connects], server[group][tcps_accepts]);
    EXPECT_EQ(client[group][tcps_connects], server[group][tcps_connects]);
    EXPECT_EQ(client[group][tcps_closed], server[group][tcps_closed]);
    EXPECT_EQ(client[group][tcps_sndbyte], server[group][tcps_rcvbyte]);
    EXPECT_EQ(server[group][tcps_sndbyte], client[group][tcps_rcvbyte]);
    EXPECT_EQ(client[group][tcps_sndtotal], server[group][tcps_rcvtotal]);
    EXPECT_EQ(server[group][tcps_sndtotal], client[group][tcps_rcvtotal]);
  }
  for (Side side : {Side::client, Side::server}) EXPECT_EQ(network.core(side).open_flows(), 0u);
}

TEST(PayloadChoice, CountsEachConnectionWithTheTemplateItTurnsOutToBe) {
  RunOptions options;
  options.duration = 2 * kSecond;
  Network network({}, tcp_profile(true), options);
  ASSERT_TRUE(network.drain(10 * kSecond));
  expect_balanced(network);
  const auto server = network.run(Side::server).counters(Side::server);
  EXPECT_GT(server[1][tcps_accepts], 40u);
  EXPECT_GT(server[2][tcps_accepts], 20u);
  EXPECT_GT(server[3][tcps_accepts], 30u);
  EXPECT_EQ(server[2][tcps_sndbyte], 4 * server[2][tcps_accepts]);
  EXPECT_EQ(server[3][tcps_sndbyte], 1000 * server[3][tcps_accepts]);
  const CounterBlock table = network.table_counters(Side::server);
  EXPECT_EQ(table[defer_template],
            server[1][tcps_accepts] + server[2][tcps_accepts] + server[3][tcps_accepts]);
  EXPECT_EQ(table[err_defer_no_template], 0u);
}

TEST(PayloadChoice, HoldsOverALossyWire) {
  Settings settings;
  settings.to_server = {.loss = 0.05, .reordering = 0.05};
  settings.to_client = {.loss = 0.05};
  RunOptions options;
  options.duration = 2 * kSecond;
  Network network(settings, tcp_profile(true), options);
  ASSERT_TRUE(network.drain(60 * kSecond));
  const auto client = network.run(Side::client).counters(Side::client);
  const auto server = network.run(Side::server).counters(Side::server);
  for (size_t group = 1; group < client.size(); ++group)
    EXPECT_EQ(client[group][tcps_rcvbyte], server[group][tcps_sndbyte]) << group;
  EXPECT_EQ(network.core(Side::server).open_flows(), 0u);
}

TEST(PayloadChoice, RefusesAPayloadOfNoTemplate) {
  json profile = json::parse(tcp_profile(false));
  profile["program_list"][1]["commands"][0]["buf_index"] = 2;  // B's client says C
  profile["templates"][1]["server_template"]["assoc"][0]["l7_map"]["value"] = {66, 66};
  RunOptions options;
  options.duration = kSecond;
  Network network({}, profile.dump(), options);
  ASSERT_TRUE(network.drain(20 * kSecond));
  const auto client = network.run(Side::client).counters(Side::client);
  const CounterBlock table = network.table_counters(Side::server);
  EXPECT_GT(client[2][tcps_connects], 10u);
  EXPECT_EQ(client[2][tcps_drops], client[2][tcps_connects]);
  EXPECT_EQ(table[err_defer_no_template], client[2][tcps_connects]);
  EXPECT_EQ(client[1][tcps_drops], 0u);
  EXPECT_EQ(network.core(Side::server).open_flows(), 0u);
}

TEST(PayloadChoice, DatagramsChooseAtOnce) {
  const auto ask = [](uint32_t buffer) {
    return program(R"({"name":"tx_msg","buf_index":)" + std::to_string(buffer) +
                       R"(},{"name":"rx_msg","min_pkts":1})",
                   false);
  };
  const json reply =
      program(R"({"name":"rx_msg","min_pkts":1},{"name":"tx_msg","buf_index":3})", false);
  RunOptions options;
  options.duration = 2 * kSecond;
  Network network({},
                  several({ask(0), ask(1), reply},
                          {flow_template(0, 2, 20, 1, kByFirstBytes),
                           flow_template(1, 2, 20, 2, kByFirstBytes)},
                          {"A", "B"}),
                  options);
  ASSERT_TRUE(network.drain(10 * kSecond));
  const auto client = network.run(Side::client).counters(Side::client);
  const auto server = network.run(Side::server).counters(Side::server);
  for (size_t group : {1, 2}) {
    EXPECT_GT(client[group][udps_connects], 20u);
    EXPECT_EQ(client[group][udps_connects], server[group][udps_accepts]);
    EXPECT_EQ(client[group][udps_rcvpkt], server[group][udps_sndpkt]);
  }
}

/// A server template of all addresses, and one that a payload decides on, of some of them.
std::string overlapping(bool mapped_first, bool alike) {
  json mapped = flow_template(0, 3, 40, 1, kByFirstBytes);
  json plain = flow_template(2, 3, 30, 2);
  mapped["server_template"]["assoc"][0].update({{"ip_start", "48.0.0.5"}, {"ip_end", "48.0.0.9"}});
  if (!alike) plain["server_template"]["glob_info"] = {{"tcp", {{"rxbufsize", 200'000}}}};
  const std::vector<json> templates =
      mapped_first ? std::vector{mapped, plain} : std::vector{plain, mapped};
  return several({send(0, 1000), send(1, 4), send(2, 1000), answer(3), answer(1)}, templates,
                 {"A", "B"});
}

TEST(PayloadChoice, TemplatesThatShareAnyAddressAcceptAlike) {
  for (const bool mapped_first : {false, true}) {
    Network({}, overlapping(mapped_first, true), {});
    try {
      Network({}, overlapping(mapped_first, false), {});
      ADD_FAILURE() << "accepted, the mapped one first: " << mapped_first;
    } catch (const ProfileError& error) {
      EXPECT_NE(std::string(error.what()).find("same server tunables"), std::string::npos)
          << error.what();
    }
  }
}

/// Of `tcp_profile`, with clients that say nothing in the first four seconds.
std::string silent_profile() {
  json profile = json::parse(tcp_profile(false));
  for (size_t client : {0, 1})
    profile["program_list"][client]["commands"].insert(
        profile["program_list"][client]["commands"].begin(),
        {{{"name", "connect"}}, {{"name", "delay"}, {"usec", 4'000'000}}});
  return profile.dump();
}

PoolStatus undecided(Network& network) {
  for (const PoolStatus& pool : network.core(Side::server).memory())
    if (pool.name == std::string("undecided connection")) return pool;
  ADD_FAILURE() << "no such pool";
  return {};
}

TEST(PayloadChoice, TheMemoryOfUndecidedConnectionsIsToldAndBounded) {
  Settings settings;
  settings.max_flows = 40;
  Network network(settings, silent_profile(), forever());
  network.run_until(2 * kSecond);
  const uint64_t open = network.core(Side::server).open_flows();
  EXPECT_EQ(open, 40u);
  PoolStatus pool = undecided(network);
  EXPECT_EQ(pool.in_use, open);
  EXPECT_GT(pool.object_bytes, sizeof(CounterBlock));
  EXPECT_GE(pool.reserved_bytes, open * pool.object_bytes);
  EXPECT_LE(pool.reserved_bytes, (open + 1) * pool.object_bytes);
  network.run_until(8 * kSecond);
  network.close(Side::server);
  EXPECT_EQ(undecided(network).in_use, 0u);
}

TEST(PayloadChoice, CutsConnectionsThatNeverSaidWhatTheyWant) {
  Network network({}, silent_profile(), forever());
  network.run_until(2 * kSecond);
  EXPECT_GT(network.status(Side::server).server_flows, 50u);
  network.close(Side::server);
  EXPECT_EQ(network.core(Side::server).open_flows(), 0u);
  EXPECT_EQ(network.status(Side::server).server_flows, 0u);
}

}  // namespace
}  // namespace engine::netsim
