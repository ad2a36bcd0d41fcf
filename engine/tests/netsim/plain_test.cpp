// The plain way of TCP beside the general one: both send the same frames at the same times, and
// count alike.

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "netsim/random_settings.h"

namespace engine::netsim {
namespace {

/// A frame that was sent.
struct Sent {
  Nanoseconds time;
  Side from;
  std::vector<uint8_t> bytes;

  bool operator==(const Sent&) const = default;
};

struct Record {
  std::vector<Sent> frames;
  std::array<CounterBlock, kSides> counters;
};

/// When a side finds no buffer for a frame: one step in `one_in` of 20 ms; 0: never.
Record record(Settings settings, const HttpLike& http, bool only_general_way, uint64_t one_in) {
  settings.only_general_way = only_general_way;
  Record record;
  Network network(settings, profile(http), forever());
  network.filter = [&](Seen& seen) {
    record.frames.push_back({seen.time, seen.from, seen.bytes});
    return true;
  };
  Random random(settings.seed);
  for (unsigned step = 0; step < 5000 && !network.drain(network.now() + 20 * kMillisecond); ++step)
    for (Side side : {Side::client, Side::server})
      if (one_in != 0) network.withhold_frames(side, random.next() % one_in == 0 && step < 500);
  for (Side side : {Side::client, Side::server})
    record.counters[index_of(side)] = network.counters(side);
  return record;
}

void expect_same(const Settings& settings, const HttpLike& http, uint64_t one_in = 0) {
  SCOPED_TRACE("client " + http.client_tcp + ", server " + http.server_tcp);
  const Record general = record(settings, http, true, one_in);
  const Record plain = record(settings, http, false, one_in);
  ASSERT_GE(general.frames.size(), http.limit * 5);
  for (size_t i = 0; i < std::min(general.frames.size(), plain.frames.size()); ++i)
    ASSERT_EQ(general.frames[i], plain.frames[i]) << "frame " << i;
  EXPECT_EQ(general.frames.size(), plain.frames.size());
  for (Side side : {Side::client, Side::server})
    for (size_t i = 0; i < kCounterCount; ++i)
      EXPECT_EQ(general.counters[index_of(side)].values[i],
                plain.counters[index_of(side)].values[i])
          << "counter " << i << " of side " << index_of(side);
}

class PlainWay : public testing::TestWithParam<uint64_t> {};

TEST_P(PlainWay, SendsWhatTheGeneralWaySendsUnderRandomSettings) {
  Draw draw(GetParam());
  const Settings settings = draw.settings();
  expect_same(settings, draw.http());
}

TEST_P(PlainWay, SendsWhatTheGeneralWaySendsWhenFramesLack) {
  Draw draw(GetParam());
  Settings settings = draw.settings();
  settings.offloads = {};
  settings.to_client = settings.to_server = {};
  expect_same(settings, draw.http(), 3);
}

INSTANTIATE_TEST_SUITE_P(Seeds, PlainWay, testing::Range<uint64_t>(1, 31));

HttpLike with_commands(const std::string& client, const std::string& server) {
  HttpLike http{.request = 300, .response = 900, .limit = kRandomFlows};
  http.client_commands = client;
  http.server_commands = server;
  return http;
}

TEST(PlainWay, DoesTheSameForProgramsOfEveryShape) {
  const std::string tx = R"({"name":"tx","buf_index":0})";
  const std::string answer = R"({"name":"tx","buf_index":1})";
  const std::string delay = R"({"name":"delay","usec":300000})";
  const std::string all = R"({"name":"rx","min_bytes":900})";
  const std::string request = R"({"name":"rx","min_bytes":300})";
  const std::string unblocked = R"({"name":"tx_mode","flags":1})";
  for (const ImpairmentSettings& wire :
       {ImpairmentSettings{}, ImpairmentSettings{.loss = 0.05, .duplication = 0.05}}) {
    Settings settings{.to_server = wire, .to_client = wire};
    // Two messages each way, with an idle time between them.
    expect_same(settings, with_commands(tx + "," + all + "," + delay + "," + tx + "," +
                                            R"({"name":"rx","min_bytes":1800})",
                                        request + "," + answer + "," +
                                            R"({"name":"rx","min_bytes":600})" + "," + answer));
    // More than one buffer queued.
    expect_same(settings, with_commands(unblocked + "," + tx + "," + tx + "," + tx,
                                        R"({"name":"rx","min_bytes":900})"));
    // The server closes first; both at once; by a reset.
    expect_same(settings, with_commands(tx + R"(,{"name":"nc"})", request + "," + answer));
    expect_same(settings, with_commands(tx + "," + delay, request + "," + delay));
    expect_same(settings, with_commands(tx + "," + all + R"(,{"name":"reset"})",
                                        request + "," + answer + R"(,{"name":"nc"})"));
    // Longer idle than keepalive probes allow for.
    HttpLike idle = with_commands(tx + R"(,{"name":"delay","usec":9000000})", request);
    idle.client_tcp = idle.server_tcp = R"({"keepidle":2,"keepintvl":2})";
    expect_same(settings, idle);
  }
}

}  // namespace
}  // namespace engine::netsim
