// TCP's fast path beside the slow one: both send the same frames at the same times, and count
// alike.

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "json/parse_profile.h"
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

/// What happens to the frames beside what the wire does.
struct Trouble {
  uint64_t one_in = 0;  ///< a side finds no buffer in one step of so many, of 20 ms; 0: never
  bool ipv6 = false;
  /// Changes a frame that was sent, whose checksums nobody verifies then.
  std::function<void(Seen&, Random&)> change = {};
  /// Copies of frames that were sent, with bytes changed, are sent again.
  bool hostile = false;
};

Record record(Settings settings, const HttpLike& http, bool only_slow_path,
              const Trouble& trouble) {
  settings.only_slow_path = only_slow_path;
  Record record;
  Network network(settings, parse_profile(profile(http), trouble.ipv6), forever());
  Random random(settings.seed);
  network.filter = [&](Seen& seen) {
    record.frames.push_back({seen.time, seen.from, seen.bytes});
    if (trouble.change && seen.kind == PacketKind::tcp) trouble.change(seen, random);
    return true;
  };
  for (unsigned step = 0; step < 5000 && !network.drain(network.now() + 20 * kMillisecond);
       ++step) {
    for (Side side : {Side::client, Side::server})
      if (trouble.one_in != 0)
        network.withhold_frames(side, random.next() % trouble.one_in == 0 && step < 500);
    if (!trouble.hostile || record.frames.empty() || step > 500) continue;
    Sent copy = record.frames[random.next() % record.frames.size()];
    for (uint64_t edits = random.next() % 4; edits > 0; --edits)
      copy.bytes[12 + random.next() % (copy.bytes.size() - 12)] =
          static_cast<uint8_t>(random.next());
    network.inject(copy.from, std::move(copy.bytes));
  }
  for (Side side : {Side::client, Side::server})
    record.counters[index_of(side)] = network.counters(side);
  return record;
}

void expect_same(const Settings& settings, const HttpLike& http, const Trouble& trouble = {}) {
  SCOPED_TRACE("client " + http.client_tcp + ", server " + http.server_tcp);
  const Record slow = record(settings, http, true, trouble);
  const Record fast = record(settings, http, false, trouble);
  ASSERT_GE(slow.frames.size(), http.limit * 5);
  for (size_t i = 0; i < std::min(slow.frames.size(), fast.frames.size()); ++i)
    ASSERT_EQ(slow.frames[i], fast.frames[i]) << "frame " << i;
  EXPECT_EQ(slow.frames.size(), fast.frames.size());
  for (Side side : {Side::client, Side::server})
    for (size_t i = 0; i < kCounterCount; ++i)
      EXPECT_EQ(slow.counters[index_of(side)].values[i], fast.counters[index_of(side)].values[i])
          << "counter " << i << " of side " << index_of(side);
}

class FastPathBesideSlowPath : public testing::TestWithParam<uint64_t> {};

TEST_P(FastPathBesideSlowPath, SendsTheSameUnderRandomSettings) {
  Draw draw(GetParam());
  const Settings settings = draw.settings();
  expect_same(settings, draw.http());
}

TEST_P(FastPathBesideSlowPath, SendsTheSameWhenBuffersAreMissing) {
  Draw draw(GetParam());
  Settings settings = draw.settings();
  settings.offloads = {};
  settings.to_client = settings.to_server = {};
  expect_same(settings, draw.http(), {.one_in = 3});
}

TEST_P(FastPathBesideSlowPath, SendsTheSameOverIpv6AndWithTags) {
  Draw draw(GetParam());
  Settings settings = draw.settings();
  settings.tags = vlan_tags(GetParam() % 3 == 0 ? 0 : 30, GetParam() % 3 == 1 ? 0 : 40);
  expect_same(settings, draw.http(), {.ipv6 = GetParam() % 2 == 0});
}

/// Of a segment that is no SYN and has time stamps alone: they become padding.
void strip_stamps(Seen& seen) {
  if (seen.segment.is(tcp::kSyn) || seen.packet.fast != FastPath::stamped) return;
  const auto options = seen.packet.header - seen.bytes.data() + tcp::kFixedHeader;
  std::fill_n(seen.bytes.begin() + options, tcp::kTimestampsLength, tcp::kNoOperation);
}

/// The window becomes one of a few bytes, or none.
void close_window(Seen& seen, uint16_t window) {
  if (seen.segment.is(tcp::kSyn)) return;
  store_be<uint16_t>(&seen.bytes[static_cast<size_t>(seen.packet.header - seen.bytes.data()) + 14],
                     window);
}

/// Nobody looks at checksums, so that frames may be changed.
Settings trusting(Draw& draw) {
  Settings settings = draw.settings();
  settings.offloads = {.checksum = true, .max_payload = 60'000};
  settings.to_server.corruption = settings.to_client.corruption = 0;
  return settings;
}

TEST_P(FastPathBesideSlowPath, SendsTheSameWhenStampsAreStripped) {
  Draw draw(GetParam());
  const Settings settings = trusting(draw);
  expect_same(settings, draw.http(), {.change = [](Seen& seen, Random& random) {
                if (random.next() % 4 == 0) strip_stamps(seen);
              }});
}

TEST_P(FastPathBesideSlowPath, SendsTheSameWhenWindowsAreZeroOrTiny) {
  Draw draw(GetParam());
  const Settings settings = trusting(draw);
  expect_same(settings, draw.http(), {.change = [](Seen& seen, Random& random) {
                if (random.next() % 8 == 0)
                  close_window(seen, static_cast<uint16_t>(random.next() % 3 * random.next() % 9));
              }});
}

TEST_P(FastPathBesideSlowPath, SendsTheSameWhenHostileSegmentsCome) {
  Draw draw(GetParam());
  const Settings settings = trusting(draw);
  expect_same(settings, draw.http(), {.hostile = true});
}

INSTANTIATE_TEST_SUITE_P(Seeds, FastPathBesideSlowPath, testing::Range<uint64_t>(1, 31));

HttpLike with_commands(const std::string& client, const std::string& server) {
  HttpLike http{.request = 300, .response = 900, .limit = kRandomFlows};
  http.client_commands = client;
  http.server_commands = server;
  return http;
}

TEST(FastPathBesideSlowPath, DoesTheSameForProgramsOfEveryShape) {
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
