// Random choices differ by start of the engine, by core, and by start of a profile.

#include <gtest/gtest.h>

#include <map>

#include "json/parse_profile.h"
#include "netsim/netsim.h"
#include "netsim/several_templates.h"

namespace engine::netsim {
namespace {

/// What the datagrams of a run's first flows show of its random choices.
struct Choices {
  std::vector<uint16_t> templates;     ///< by server port, in the order of source ports
  std::map<uint32_t, uint16_t> ports;  ///< first source port, by client
  std::vector<Nanoseconds> delays;     ///< when each flow's datagram came
};

/// Two templates of one weight, whose clients wait for a random time before they send.
std::string random_profile() {
  const auto client = program(R"({"name":"delay_rnd","min_usec":0,"max_usec":1000000},)"
                              R"({"name":"tx_msg","buf_index":0})",
                              false);
  const auto server = program(R"({"name":"rx_msg","min_pkts":1})", false);
  return several(
      {client, server},
      {flow_template(0, 1, 50, 0, {{"port", 80}}), flow_template(0, 1, 50, 0, {{"port", 81}})}, {});
}

/// Of the frames that a network's client sends until `until`.
Choices choices_of(Network& network, Nanoseconds until) {
  Choices choices;
  std::map<std::pair<uint32_t, uint16_t>, uint16_t> by_source;
  network.filter = [&](Seen& seen) {
    if (seen.from == Side::client && seen.kind == PacketKind::udp) {
      by_source[{seen.packet.source().low32(), seen.packet.source_port()}] =
          seen.packet.destination_port();
      choices.delays.push_back(seen.time);
    }
    return true;
  };
  network.run_until(until);
  network.filter = {};
  for (const auto& [source, port] : by_source) {
    choices.templates.push_back(port);
    choices.ports.emplace(source.first, source.second);
  }
  EXPECT_GT(choices.delays.size(), 50u);
  return choices;
}

Choices start_of(uint64_t start, uint32_t thread) {
  Settings settings;
  settings.seed = start;
  settings.thread = thread;
  settings.threads = 2;
  RunOptions options;
  options.multiplier = 2;  // this core's half
  options.duration = kSecond;
  Network network(settings, random_profile(), options);
  return choices_of(network, 4 * kSecond);
}

void expect_other(const Choices& one, const Choices& other) {
  EXPECT_NE(one.templates, other.templates);
  EXPECT_NE(one.ports, other.ports);
  EXPECT_NE(one.delays, other.delays);
}

TEST(Starts, ChooseDifferently) {
  const Choices first = start_of(1, 0);
  expect_other(first, start_of(2, 0));
  const Choices again = start_of(1, 0);
  EXPECT_EQ(first.ports, again.ports) << "the same start is repeated exactly";
  EXPECT_EQ(first.delays, again.delays);
}

TEST(Starts, CoresChooseDifferently) {
  const Choices first = start_of(1, 0);
  const Choices other = start_of(1, 1);
  EXPECT_NE(first.templates, other.templates);
  EXPECT_NE(first.delays, other.delays);
  EXPECT_NE(first.ports.begin()->second, other.ports.begin()->second);
}

TEST(Starts, AProfileThatStartsAgainTakesItsTemplatesInAnotherOrder) {
  RunOptions options;
  options.duration = kSecond;
  Network network({}, random_profile(), options);
  const Choices first = choices_of(network, 3 * kSecond);
  network.close(Side::client);
  DataCore& core = network.core(Side::client);
  ASSERT_NE(core.detach(network.run(Side::client)), nullptr);
  auto run = core.prepare(parse_profile(random_profile(), false), options);
  core.attach(run, network.now());
  const Choices second = choices_of(network, 6 * kSecond);
  expect_other(first, second);
}

TEST(Starts, OverdueConnectionsOpenOverTimeAndAreMeasuredFromWhenTheyWereDue) {
  RunOptions options;
  options.duration = 10 * kSecond;
  Network network({}, profile({.response = 100, .cps = 1000}), options);
  std::map<Nanoseconds, int> syns;  // by tenth of a second
  network.filter = [&syns](Seen& seen) {
    if (seen.kind == PacketKind::tcp && seen.segment.flags == tcp::kSyn)
      ++syns[seen.time / (100 * kMillisecond)];
    return true;
  };
  network.run_until(2 * kSecond);
  network.skip(kSecond);
  ASSERT_TRUE(network.drain(30 * kSecond));
  for (const auto& [tenth, count] : syns) EXPECT_LE(count, 127) << tenth;
  const RunStatus clients = network.status(Side::client);
  EXPECT_EQ(clients.opened, 9890u) << "all that 10 s, less TRex's first 110 ms, have";
  EXPECT_EQ(clients.unsent, 0u);
  EXPECT_NEAR(static_cast<double>(clients.late), 5000, 20) << "1 s paused, 4 s catching up";
  // Each is late by less than the one before: 5,000 of them by half a second on average.
  const Histogram& connect = network.run(Side::client).latencies().front().kinds[0];
  EXPECT_NEAR(connect.highest(), kSecond / kMicrosecond, 1000);
  EXPECT_NEAR(static_cast<double>(connect.sum()) / kMicrosecond, 5000 / 2 * 1e3, 30e3);
}

}  // namespace
}  // namespace engine::netsim
