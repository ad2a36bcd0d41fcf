// The same segments in every state of a connection: RFC 9293 section 3.10.7, RFC 5961.

#include <functional>

#include "tcp/script.h"

namespace engine::tcp {
namespace {

using enum Counter;

struct Situation {
  const char* name;
  Side role;
  std::function<void(Script&)> reach;  ///< from an established connection, or from the SYN
  uint32_t next;                       ///< the peer's next sequence number
  uint32_t acknowledgment;             ///< of all that the stack sent
  bool from_syn = false;
  bool survives_reset = false;
};

void request(Script& script) {
  script.send({.flags = kPshAck, .length = 100});
  script.expect("response");
}

const Situation kSituations[] = {
    {"syn_received", Side::server,
     [](Script& script) {
       script.send({.flags = kSyn, .seq = 0});
       script.expect("SYN-ACK");
     },
     1, 1, true},
    {"established", Side::client, [](Script& script) { script.expect("request"); }, 1, 101},
    {"fin_wait_1", Side::client,
     [](Script& script) {
       script.expect("request");
       script.send({.ack = 101, .length = 100});
       script.expect("FIN");
     },
     101, 102},
    {"fin_wait_2", Side::client,
     [](Script& script) {
       script.expect("request");
       script.send({.ack = 101, .length = 100});
       script.expect("FIN");
       script.send({.seq = 101, .ack = 102});
     },
     101, 102},
    {"closing", Side::client,
     [](Script& script) {
       script.expect("request");
       script.send({.ack = 101, .length = 100});
       script.expect("FIN");
       script.send({.flags = kFinAck, .seq = 101, .ack = 101});
       script.expect("ACK of the FIN");
     },
     102, 102},
    {"time_wait", Side::client,
     [](Script& script) {
       script.expect("request");
       script.send({.ack = 101, .length = 100});
       script.expect("FIN");
       script.send({.flags = kFinAck, .seq = 101, .ack = 102});
       script.expect("ACK of the FIN");
     },
     102, 102, false, true},
    {"close_wait", Side::server,
     [](Script& script) {
       script.send({.flags = kPshAck | kFin, .length = 50});  // half of the request
       script.expect("ACK");
     },
     52, 1},
    {"last_ack", Side::server,
     [](Script& script) {
       request(script);
       script.send({.flags = kFinAck, .seq = 101, .ack = 101});
       script.expect("FIN");
     },
     102, 102},
};

class EveryState : public testing::TestWithParam<Situation> {
 protected:
  EveryState() : script(GetParam().role, {.response = 100}) {
    if (!GetParam().from_syn) script.establish();
    GetParam().reach(script);
    EXPECT_EQ(script.open_flows(), 1u);
  }
  /// What the peer would send next, but for what a test changes.
  Out next() const { return {.seq = GetParam().next, .ack = GetParam().acknowledgment}; }
  Script script;
};

TEST_P(EveryState, AnExactResetEndsTheFlowAndTimeWaitIgnoresIt) {
  Out reset = next();
  reset.flags = kRst;
  script.send(reset);
  script.expect_nothing("a reset is not answered");
  EXPECT_EQ(script.open_flows(), GetParam().survives_reset ? 1u : 0u);
}

TEST_P(EveryState, AResetInTheWindowIsChallengedAndOneOutsideIgnored) {
  Out reset = next();
  reset.flags = kRst;
  reset.seq += 1000;
  script.send(reset);
  if (!GetParam().survives_reset) {
    EXPECT_EQ(script.expect("challenge ACK").acknowledgment, GetParam().next);
  }
  reset.seq += 1'000'000;
  script.send(reset);
  script.expect_nothing("outside of the window");
  EXPECT_EQ(script.open_flows(), 1u);
}

TEST_P(EveryState, ASynInTheWindowDoesNotEndTheFlow) {
  Out syn = next();
  syn.flags = kSyn;
  syn.ack = 0;
  syn.seq -= 5;
  script.send(syn);
  EXPECT_EQ(script.open_flows(), 1u);
}

TEST_P(EveryState, AnAckOfWhatWasNeverSentDoesNotEndTheFlow) {
  Out ack = next();
  ack.ack += 5000;
  script.send(ack);
  EXPECT_FALSE(script.expect("answer").is(kSyn));
  EXPECT_EQ(script.open_flows(), 1u);
  ack.ack = GetParam().acknowledgment - 200'000;
  script.send(ack);
  EXPECT_EQ(script.open_flows(), 1u);
}

INSTANTIATE_TEST_SUITE_P(States, EveryState, testing::ValuesIn(kSituations),
                         [](const auto& info) { return std::string(info.param.name); });

TEST(States, ChallengeAcksAreLimited) {
  Script script(Side::client, {});
  script.establish();
  script.expect("request");
  uint32_t answers = 0;
  const uint64_t before = script.count(tcps_sndacks);
  for (uint32_t i = 0; i < 12'000; ++i) script.send({.flags = kSyn, .seq = 5, .ack = 0});
  answers = static_cast<uint32_t>(script.count(tcps_sndacks) - before);
  EXPECT_EQ(answers, 10'000u);
  script.wait(1100 * kMillisecond);
  script.send({.flags = kSyn, .seq = 5, .ack = 0});
  EXPECT_EQ(script.count(tcps_sndacks) - before, 10'001u) << "a second later it is answered again";
}

/// Segments without payload that are not as expected, and that an end with another view of the
/// connection may send as the answer to an answer.
struct Disagreement {
  const char* name;
  Out segment;
};

class EmptySegments : public testing::TestWithParam<Disagreement> {};

TEST_P(EmptySegments, AreAnsweredOnceAndNotForEver) {
  Script script(Side::client, {});
  script.establish(mss_option(1460) + timestamps_option(1000, 0));
  script.expect("request");
  script.send({.ack = 101, .options = timestamps_option(1000, 0)});
  const uint64_t before = script.count(tcps_sndacks);
  for (int i = 0; i < 100; ++i) script.send(GetParam().segment);
  EXPECT_EQ(script.count(tcps_sndacks) - before, 1u);
  script.wait(1100 * kMillisecond);
  script.send(GetParam().segment);
  EXPECT_EQ(script.count(tcps_sndacks) - before, 2u) << "a second later it is answered again";
  EXPECT_EQ(script.open_flows(), 1u);
}

INSTANTIATE_TEST_SUITE_P(
    States, EmptySegments,
    testing::Values(Disagreement{"Old", {.seq = 0, .ack = 101}},
                    Disagreement{"BeyondTheWindow", {.seq = 10'000'000, .ack = 101}},
                    Disagreement{"BeyondAGap", {.seq = 11, .ack = 101}},
                    Disagreement{"OfWhatWasNeverSent", {.seq = 1, .ack = 111}},
                    Disagreement{"OfLongAgo", {.seq = 1, .ack = 101u - 200'000}},
                    Disagreement{"WithAnOldTimeStamp",
                                 {.seq = 1, .ack = 101, .options = timestamps_option(500, 0)}}),
    [](const auto& info) { return std::string(info.param.name); });

/// RFC 9293 section 3.8.4. A connection is lost whose probes are not answered.
TEST(States, AKeepaliveProbeIsAnsweredWheneverItComes) {
  for (const Nanoseconds pause : {1, 64, 128}) {
    Script script(Side::server, {.server_tcp = R"({"keepidle":65533})"});
    script.establish();
    for (uint64_t probes = 1; probes <= 3; ++probes) {
      script.send({.seq = 0});
      EXPECT_EQ(script.count(tcps_sndacks), probes) << pause << " s between probes";
      script.wait(pause * kSecond);
    }
  }
}

TEST(States, WhatIsNoAttackIsAnsweredBeyondTheLimitOfChallengeAcks) {
  Script script(Side::server, {.server_tcp = R"({"keepidle":65533})"});
  script.establish(mss_option(1460) + timestamps_option(1000, 0));
  const std::vector<uint8_t> now = timestamps_option(1000, 0);
  for (uint32_t i = 0; i < 12'000; ++i) script.send({.flags = kSyn, .seq = 5, .ack = 0});
  const uint64_t before = script.count(tcps_sndacks);
  EXPECT_EQ(before, 10'000u);
  script.send({.seq = 0, .options = now});
  EXPECT_EQ(script.count(tcps_sndacks) - before, 1u) << "a keepalive probe";
  script.send({.seq = 10'000'000, .length = 10, .options = now});
  EXPECT_EQ(script.count(tcps_sndacks) - before, 2u) << "payload beyond the window";
  script.send({.length = 10, .options = timestamps_option(500, 0)});
  EXPECT_EQ(script.count(tcps_sndacks) - before, 3u) << "a segment with an old time stamp";
}

TEST(States, OldPayloadIsAnsweredEachTime) {
  Script script(Side::client, {.response = 1000});
  script.establish();
  script.expect("request");
  script.send({.flags = kPshAck, .ack = 101, .length = 100});
  const uint64_t before = script.count(tcps_sndacks);
  for (int i = 0; i < 5; ++i) script.send({.flags = kPshAck, .ack = 101, .length = 100});
  EXPECT_EQ(script.count(tcps_sndacks) - before, 5u);
}

TEST(States, AnOldEmptySegmentDoesNotProlongTimeWait) {
  Script script(Side::client, {.response = 100});
  script.establish();
  script.expect("request");
  script.send({.ack = 101, .length = 100});
  script.expect("FIN");
  script.send({.flags = kFinAck, .seq = 101, .ack = 102});
  for (int i = 0; i < 10; ++i) {
    script.wait(100 * kMillisecond);
    script.send({.seq = 1, .ack = 102});
  }
  EXPECT_EQ(script.open_flows(), 0u);
}

}  // namespace
}  // namespace engine::tcp
