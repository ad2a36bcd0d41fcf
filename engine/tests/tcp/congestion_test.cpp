// How much may be in flight: RFC 5681, 7661, 9438.

#include "net/recording_device.h"
#include "netsim/netsim.h"
#include "tcp/internal.h"
#include "tcp/script.h"

namespace engine::tcp {
namespace {

using enum Counter;

/// Two responses with a second between them, upon one request.
constexpr const char* kTwice =
    R"({"name":"rx","min_bytes":100},{"name":"tx","buf_index":1},{"name":"delay","usec":1000000},)"
    R"({"name":"tx","buf_index":1})";

/// Acknowledges all that comes until nothing more does; returns the last sequence number plus one.
uint32_t take_all(Script& script, uint32_t bytes) {
  uint32_t next = 1;
  while (next < bytes + 1) {
    const TestSegment segment = script.expect("data");
    if (segment.length == 0) break;
    next = segment.sequence + segment.length;
    script.send({.seq = 101, .ack = next});
  }
  return next;
}

TEST(Congestion, AfterIdleTimeTheWindowIsTheInitialOneAgain) {
  Script script(Side::server,
                {.response = 50'000, .server_tcp = R"({"initwnd":4})", .server_commands = kTwice});
  script.establish(mss_option(1000));
  script.send({.flags = kPshAck, .length = 100});
  EXPECT_EQ(take_all(script, 50'000), 50'001u);
  script.wait(1100 * kMillisecond);
  for (int i = 0; i < 4; ++i) EXPECT_EQ(script.expect("burst").length, 1000u);
  script.expect_nothing("beyond the initial window");
}

TEST(Congestion, LostSynsMakeTheFirstWindowOneSegment) {
  Script script(Side::client, {.request = 20'000});
  script.expect("SYN");
  script.wait(2200 * kMillisecond);
  script.expect("SYN again");
  script.expect("and again");
  script.send({.flags = kSyn | kAck, .seq = 0, .options = mss_option(1000)});
  EXPECT_EQ(script.expect("request").length, 1000u);
  script.expect_nothing("RFC 6928 section 2");
}

/// One flow with CUBIC and MSS 1000 at a round trip of 100 ms, without a wire.
struct CubicFlow {
  static constexpr uint32_t kMss = 1000;

  CubicFlow() : context(4, 1, 0, {&queue, &queue}, {}), flow(context.flows[context.flows.take()]) {
    tunables.congestion_control = kCubic;
    shared.tunables = &tunables;
    shared.counters = &counters;
    context.classes = {&shared};
    flow.flow_class = 0;
    flow.flags = 0;
    flow.extension = Flow::kNone;
    flow.mss = kMss;
    flow.srtt_us = 100'000;
    flow.snd_una = 0;
    flow.retransmissions = 0;
  }
  /// A round trip in which all of a full window is acknowledged.
  void round_trip() {
    const uint32_t acks = flow.cwnd / (2 * kMss);
    for (uint32_t i = 0; i < acks; ++i) {
      flow.snd_max = flow.snd_una + flow.cwnd;
      grow_window(context, flow, 2 * kMss);
    }
    context.set_time(context.now + 100 * kMillisecond);
  }
  void lose() {
    flow.snd_max = flow.snd_una + flow.cwnd;
    reduce_threshold(context, flow);
    flow.cwnd = flow.ssthresh;
  }
  uint32_t segments() const { return flow.cwnd / kMss; }

  RecordingDevice device;
  TransmitQueue queue{device, {}};
  Tunables tunables;
  CounterBlock counters;
  FlowClass shared;
  Context context;
  Flow& flow;
};

TEST(Cubic, TheWindowFallsToSevenTenthsAndIsBackAtKAsAPlateau) {
  CubicFlow cubic;
  cubic.flow.cwnd = 1000 * CubicFlow::kMss;
  cubic.lose();
  EXPECT_EQ(cubic.segments(), 700u);
  // K = cbrt(1000 * 0.3 / 0.4) = 9.09 s: 91 round trips.
  for (int i = 0; i < 45; ++i) cubic.round_trip();
  const uint32_t half_way = cubic.segments();
  EXPECT_GT(half_way, 940u) << "concave: most of the way in half of the time";
  for (int i = 45; i < 91; ++i) cubic.round_trip();
  EXPECT_NEAR(cubic.segments(), 1000, 5);
  for (int i = 0; i < 91; ++i) cubic.round_trip();
  EXPECT_NEAR(cubic.segments(), 1300, 15) << "convex beyond, as steep as before";
}

TEST(Cubic, ASecondLossBelowTheMaximumMakesRoom) {
  CubicFlow cubic;
  cubic.flow.cwnd = 1000 * CubicFlow::kMss;
  cubic.lose();
  cubic.lose();
  EXPECT_NEAR(cubic.segments(), 490, 1);
  // Fast convergence: W_max = 700 * 0.85 = 595.
  for (int i = 0; i < 64; ++i) cubic.round_trip();  // K = 6.4 s
  EXPECT_NEAR(cubic.segments(), 595, 5);
}

TEST(Cubic, ASmallWindowGrowsAtLeastAsRenoWould) {
  CubicFlow cubic;
  cubic.flow.srtt_us = 1000;
  cubic.flow.cwnd = 20 * CubicFlow::kMss;
  cubic.lose();
  for (int i = 0; i < 12; ++i) {
    cubic.round_trip();
    cubic.context.set_time(cubic.context.now - 99 * kMillisecond);
  }
  EXPECT_NEAR(cubic.segments(), 14 + 12 * 0.53, 1.5);
}

TEST(Congestion, AWindowThatIsNotUsedDoesNotGrow) {
  CubicFlow any;
  any.flow.cwnd = 100 * CubicFlow::kMss;
  any.flow.ssthresh = UINT32_MAX / 4;
  const auto acknowledge = [&any](uint32_t flight) {
    any.flow.snd_max = any.flow.recover = any.flow.snd_una + flight * CubicFlow::kMss;
    on_new_ack(any.context, any.flow, any.flow.snd_una + 2 * CubicFlow::kMss);
    return any.segments();
  };
  EXPECT_EQ(acknowledge(40), 100u);
  EXPECT_EQ(acknowledge(60), 102u);
}

}  // namespace
}  // namespace engine::tcp
