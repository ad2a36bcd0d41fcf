// Round-trip times, persist probes and keepalive deadlines.

#include "tcp/constants.h"
#include "tcp/script.h"

namespace engine::tcp {
namespace {

using enum Counter;

/// A time is taken by ticks, at both ends.
constexpr double kTickUs = (1 << kTickShift) / 1e3;

TEST(Timing, ARoundTripIsCountedInMicroseconds) {
  Script script(Side::server, {});
  script.send({.flags = kSyn, .seq = 0});
  script.expect("SYN-ACK");
  script.wait(100 * kMillisecond);
  script.send({});
  EXPECT_NEAR(script.info().rtt_us, 100'000, 2 * kTickUs);
}

/// Up to the longest retransmission timeout. It grows with the round trips before.
TEST(Timing, ARoundTripMayTakeAsLongAsATimeout) {
  Script script(
      Side::server,
      {.response = 500,
       .server_tcp = R"({"keepidle":60})",
       .server_commands =
           R"({"name":"rx","min_bytes":100},{"name":"tx","buf_index":1},{"name":"rx","min_bytes":200},)"
           R"({"name":"tx","buf_index":1},{"name":"rx","min_bytes":300},{"name":"tx","buf_index":1})"});
  script.send({.flags = kSyn, .seq = 0});
  script.expect("SYN-ACK");
  script.wait(950 * kMillisecond);
  script.send({});
  double smoothed = 950'000;
  Out next{.flags = kPshAck, .length = 100};
  for (const Nanoseconds round_trip : {2700, 4200, 4500}) {
    script.send(next);
    EXPECT_EQ(script.expect("response").length, 500u);
    script.wait(round_trip * kMillisecond);
    script.expect_nothing("the timeout is later");
    next.seq += 100;
    next.ack += 500;
    script.send({.seq = next.seq, .ack = next.ack});
    smoothed += (static_cast<double>(round_trip * 1000) - smoothed) / 8;
    EXPECT_NEAR(script.info().rtt_us, smoothed, 4 * kTickUs);
  }
}

/// One that sends five segments to a window of one, which is full.
struct ClosedWindow : Script {
  ClosedWindow() : Script(Side::server, {.response = 5000}) {
    establish(mss_option(1000), 1000);
    send({.flags = kPshAck, .length = 100, .window = 1000});
    expect("one window");
    send({.seq = 101, .ack = 1001, .window = 0});
  }
};

TEST(Timing, TimeoutsStayBoundedHoweverOftenAPersistProbeIsRepeated) {
  ClosedWindow script;
  for (int i = 0; i < 110; ++i) {
    script.wait(kMaxPersist);
    if (i >= 10) {
      EXPECT_EQ(script.info().timeout, kMaxRto) << script.count(tcps_sndprobe) << " probes";
    }
    script.send({.seq = 101, .ack = 1001, .window = 0});
  }
  EXPECT_GT(script.count(tcps_sndprobe), 100u);
  EXPECT_EQ(script.open_flows(), 1u) << "a peer that answers is not given up";
}

TEST(Timing, APeerThatVanishesBehindAClosedWindowIsGivenUp) {
  ClosedWindow script;
  script.wait(100 * kSecond);
  EXPECT_EQ(script.open_flows(), 0u) << script.count(tcps_sndprobe) << " probes";
  EXPECT_EQ(script.count(tcps_persistdrop), 1u);
  EXPECT_EQ(script.count(tcps_drops), 1u);
  EXPECT_EQ(script.count(tcps_sndprobe), kMaxProbes);
}

TEST(Timing, APeerThatAnswersAgainAfterSomeProbesGetsAsManyAgain) {
  ClosedWindow script;
  script.wait(25 * kSecond);
  const uint64_t probes = script.count(tcps_sndprobe);
  EXPECT_GE(probes, 4u);
  script.send({.seq = 101, .ack = 1001, .window = 0});
  script.wait(200 * kSecond);
  EXPECT_EQ(script.count(tcps_sndprobe), probes + kMaxProbes);
  EXPECT_EQ(script.open_flows(), 0u);
}

TEST(Timing, KeepaliveProbesDoNotCountAsRetransmissionsOfDataThatFollows) {
  Script script(
      Side::client,
      {.client_tcp = R"({"keepidle":5,"keepintvl":2})",
       .client_commands = R"({"name":"tx","buf_index":0},{"name":"delay","usec":14500000},)"
                          R"({"name":"tx","buf_index":0},{"name":"rx","min_bytes":1})"});
  script.establish(mss_option(1460));
  script.expect("request");
  script.send({.ack = 101});
  script.wait(14 * kSecond);
  EXPECT_EQ(script.count(tcps_keepprobe), 5u);
  script.wait(60 * kSecond);
  EXPECT_EQ(script.count(tcps_sndrexmitpack), kMaxRetransmissions);
  EXPECT_EQ(script.count(tcps_timeoutdrop), 1u);
  EXPECT_EQ(script.open_flows(), 0u);
}

TEST(Timing, AProbeThatHasTheFinIsNotFollowedByTheFinAlone) {
  Script script(Side::server,
                {.response = 1,
                 .server_commands = R"({"name":"tx_mode","flags":1},{"name":"rx","min_bytes":100},)"
                                    R"({"name":"tx","buf_index":1})"});
  script.establish(mss_option(1000), 0);
  script.send({.flags = kPshAck, .length = 100, .window = 0});
  EXPECT_EQ(script.expect("an acknowledgment").length, 0u);
  script.wait(1200 * kMillisecond);
  const TestSegment probe = script.expect("probe");
  EXPECT_EQ(probe.length, 1u);
  EXPECT_TRUE(probe.is(kFin));
  script.send({.seq = 101, .window = 0});
  script.expect_nothing("a FIN beyond the closed window");
}

TEST(Timing, AWindowThatStaysClosedAfterItTookAProbeIsProbedAgain) {
  ClosedWindow script;
  script.wait(1200 * kMillisecond);
  EXPECT_EQ(script.expect("probe").sequence, 1001u);
  script.send({.seq = 101, .ack = 1002, .window = 0});
  script.wait(1200 * kMillisecond);
  const TestSegment probe = script.expect("the next byte");
  EXPECT_EQ(probe.sequence, 1002u);
  EXPECT_EQ(probe.length, 1u);
}

/// RFC 9293 section 3.10.7.4: at RCV.WND 0 a segment without payload is taken if it has RCV.NXT.
TEST(Timing, AnAckToAClosedWindowHasTheNumberThatThePeerExpects) {
  ClosedWindow script;
  script.wait(1200 * kMillisecond);
  EXPECT_EQ(script.expect("probe").sequence, 1001u);
  script.send({.seq = 101, .ack = 1001, .window = 0});
  script.send({.flags = kPshAck, .seq = 101, .ack = 1001, .length = 1000, .window = 0});
  const TestSegment ack = script.expect("ACK of the payload");
  EXPECT_EQ(ack.sequence, 1001u);
  EXPECT_EQ(ack.acknowledgment, 1101u);
  script.send({.seq = 1100, .ack = 1001, .window = 0});  // a keepalive probe
  EXPECT_EQ(script.expect("answer to a probe").sequence, 1001u);
  script.send({.flags = kFinAck, .seq = 1101, .ack = 1001, .window = 0});
  EXPECT_EQ(script.expect("ACK of the FIN").sequence, 1001u);
  script.send({.seq = 1102, .ack = 1001, .window = 1000});
  const TestSegment rest = script.expect("what the window takes");
  EXPECT_EQ(rest.sequence, 1001u);
  EXPECT_EQ(rest.length, 1000u);
}

TEST(Timing, TheResetOfAConnectionGivenUpBehindAClosedWindowIsOneThatThePeerTakes) {
  ClosedWindow script;
  script.wait(100 * kSecond);
  TestSegment last;
  for (unsigned probe = 0; probe <= kMaxProbes; ++probe) last = script.expect("probe or reset");
  EXPECT_TRUE(last.is(kRst));
  EXPECT_EQ(last.sequence, 1001u);  // RFC 5961 section 3.2: RCV.NXT alone resets
}

/// What is in flight may lie beyond a window that was closed meanwhile.
TEST(Timing, AnAckIsNotBeyondAWindowThatWasTakenBack) {
  for (const uint16_t window : {uint16_t{0}, uint16_t{500}}) {
    Script script(Side::server, {.response = 1000});
    script.establish(mss_option(1000), 2000);
    script.send({.flags = kPshAck, .length = 100, .window = 2000});
    EXPECT_EQ(script.expect("response").length, 1000u);
    script.send({.flags = kPshAck, .seq = 101, .ack = 1, .length = 100, .window = window});
    script.send({.flags = kPshAck, .seq = 201, .ack = 1, .length = 100, .window = window});
    EXPECT_EQ(script.expect("ACK").sequence, 1u + window);
    EXPECT_EQ(script.expect("ACK").sequence, 1u + window);
  }
}

/// The answer to a probe moves the next one from keepintvl to keepidle after it.
TEST(Timing, AKeepaliveDeadlineMovedEarlierIsMet) {
  Script script(Side::client, {.client_tcp = R"({"keepidle":2,"keepintvl":30})"});
  script.establish();
  script.expect("request");
  script.send({.ack = 101});
  for (int i = 0; i < 3; ++i) {
    script.wait(2100 * kMillisecond);
    EXPECT_EQ(script.expect("keepalive probe").sequence, 100u);
    script.send({.ack = 101});
  }
}

}  // namespace
}  // namespace engine::tcp
