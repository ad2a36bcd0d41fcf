// Losses that three duplicate ACKs do not tell of: tail loss probes and the reordering timer,
// RFC 8985.

#include "tcp/script.h"

namespace engine::tcp {
namespace {

using enum Counter;

/// A server with SACK that has sent `segments` of 1000 bytes, of which nothing is acknowledged. The
/// peer's next byte is 101.
struct Sent : Script {
  explicit Sent(uint32_t segments, bool sack = true)
      : Script(Side::server, {.response = segments * 1000}) {
    establish(mss_option(1000) + (sack ? sack_permitted_option() : std::vector<uint8_t>{}));
    send({.flags = kPsh | kAck, .length = 100});
    for (uint32_t i = 0; i < segments; ++i) expect("response");
  }
  void acknowledge(uint32_t ack, std::vector<SequenceRange> ranges = {}) {
    for (SequenceRange& range : ranges)
      range = {stack_number(range.start), stack_number(range.end)};
    send({.seq = 101,
          .ack = ack,
          .options = ranges.empty() ? std::vector<uint8_t>{} : sack_option(ranges)});
  }
};

TEST(Probe, TheLastOfSeveralSegmentsIsSentAgainLongBeforeTheTimeout) {
  Sent script(6);
  script.acknowledge(3001);
  script.wait(45 * kMillisecond);
  script.expect_nothing("a delayed ACK may be on its way");
  script.wait(10 * kMillisecond);
  EXPECT_EQ(script.expect("probe").sequence, 5001u);
  script.expect_nothing("one probe");
  script.acknowledge(6001);
  EXPECT_EQ(script.count(tcps_rexmttimeo), 0u);
  EXPECT_EQ(script.count(tcps_sndrexmitpack), 1u);
}

TEST(Probe, WhatLeftBeforeAReportedProbeIsLost) {
  Sent script(6);
  script.acknowledge(3001);
  script.wait(60 * kMillisecond);
  script.expect("probe");
  script.acknowledge(3001, {{5001, 6001}});
  EXPECT_EQ(script.expect("first hole").sequence, 3001u);
  EXPECT_EQ(script.expect("second hole").sequence, 4001u);
  script.expect_nothing("nothing else is missing");
  EXPECT_EQ(script.count(tcps_rexmttimeo), 0u);
}

TEST(Probe, ALoneSegmentWaitsForTheTimeout) {
  Sent script(1);
  script.wait(190 * kMillisecond);
  script.expect_nothing("its ACK may be delayed");
  script.wait(20 * kMillisecond);
  script.expect("timeout");
  EXPECT_EQ(script.count(tcps_rexmttimeo), 1u);
}

TEST(Probe, WithoutSackThereIsNone) {
  Sent script(6, false);
  script.acknowledge(3001);
  script.wait(190 * kMillisecond);
  script.expect_nothing("no probe");
}

TEST(Probe, AHoleThatDoesNotCloseInTheReorderingWindowIsLost) {
  Sent script(3);
  script.acknowledge(1, {{1001, 3001}});
  script.expect_nothing("two segments behind it: it may be late");
  script.wait(6 * kMillisecond);
  EXPECT_EQ(script.expect("the hole").sequence, 1u);
  script.expect_nothing("nothing else");
  script.acknowledge(3001);
  EXPECT_EQ(script.count(tcps_rexmttimeo), 0u);
}

TEST(Probe, AReorderedSegmentIsNotSentAgain) {
  Sent script(3);
  script.acknowledge(1, {{1001, 2001}});
  script.wait(2 * kMillisecond);
  script.acknowledge(3001);
  script.wait(300 * kMillisecond);
  EXPECT_EQ(script.count(tcps_sndrexmitpack), 0u);
}

TEST(Probe, AProbeThatFindsNoAnswerIsFollowedByTheTimeout) {
  Sent script(4);
  script.acknowledge(1001);
  script.wait(60 * kMillisecond);
  script.expect("probe");
  script.wait(220 * kMillisecond);
  EXPECT_EQ(script.count(tcps_rexmttimeo), 1u);
  EXPECT_EQ(script.expect("timeout").sequence, 1001u);
}

/// The probe of the last of six segments was acknowledged, and the FIN behind it sent.
struct Probed : Sent {
  Probed() : Sent(6) {
    acknowledge(3001);
    wait(60 * kMillisecond);
    EXPECT_EQ(expect("probe").sequence, 5001u);
    acknowledge(6001);
    EXPECT_TRUE(expect("FIN").is(kFin));
  }
  bool reduced() const { return info().slow_start_threshold < 10'000; }
};

/// RFC 8985 section 7.4.2.
TEST(Probe, ALossThatAProbeRepairedReducesTheWindow) {
  Probed script;
  script.acknowledge(6002);
  EXPECT_TRUE(script.reduced());
}

TEST(Probe, AProbeThatGotThereTwiceRepairedNoLoss) {
  Probed script;
  script.acknowledge(6001, {{5001, 6001}});
  script.acknowledge(6002);
  EXPECT_FALSE(script.reduced());
}

TEST(Probe, ADuplicateOfAnotherSegmentSaysNothingOfTheProbe) {
  Probed script;
  script.acknowledge(6001, {{3001, 4001}});
  script.acknowledge(6002);
  EXPECT_TRUE(script.reduced());
}

}  // namespace
}  // namespace engine::tcp
