#include "tcp/script.h"

namespace engine::tcp {
namespace {

using enum Counter;

TEST(Transfer, EverySecondFullSegmentIsAcknowledgedAtOnceAndALoneOneLate) {
  Script script(Side::client, {.response = 100'000, .client_tcp = R"({"delay_ack_msec":100})"});
  script.establish(mss_option(1460));
  EXPECT_EQ(script.expect("request").length, 100u);
  script.send({.ack = 101, .length = 1460});
  script.expect_nothing("the first full segment waits");
  script.send({.seq = 1461, .ack = 101, .length = 1460});
  EXPECT_EQ(script.expect("ACK of the second").acknowledgment, 2921u);
  script.send({.seq = 2921, .ack = 101, .length = 1460});
  script.wait(90 * kMillisecond);
  script.expect_nothing("before the delay is over");
  script.wait(20 * kMillisecond);
  EXPECT_EQ(script.expect("delayed ACK").acknowledgment, 4381u);
  EXPECT_EQ(script.count(tcps_delack), 1u);
}

TEST(Transfer, PushIsAcknowledgedAtOnce) {
  Script script(Side::client, {.response = 100'000});
  script.establish(mss_option(1460));
  script.expect("request");
  script.send({.flags = kPshAck, .ack = 101, .length = 10});
  EXPECT_EQ(script.expect("ACK").acknowledgment, 11u);
}

TEST(Transfer, OutOfOrderDataIsAcknowledgedWithSackAndDeliveredOnceComplete) {
  Script script(Side::client, {.response = 3000});
  script.establish(mss_option(1000) + sack_permitted_option());
  script.expect("request");
  script.send({.seq = 2001, .ack = 101, .length = 1000});
  TestSegment ack = script.expect("duplicate ACK");
  EXPECT_EQ(ack.acknowledgment, 1u);
  ASSERT_EQ(ack.sack_count, 1);
  EXPECT_EQ(ack.sack[0].start, Script::kPeerIsn + 2001);
  EXPECT_EQ(ack.sack[0].end, Script::kPeerIsn + 3001);
  script.send({.seq = 1, .ack = 101, .length = 1000});
  EXPECT_EQ(script.expect("ACK").acknowledgment, 1001u);
  script.send({.seq = 1001, .ack = 101, .length = 1000});
  const TestSegment fin = script.expect("everything acknowledged, and the program over: FIN");
  EXPECT_EQ(fin.acknowledgment, 3001u);
  EXPECT_TRUE(fin.is(kFin));
  EXPECT_EQ(script.count(tcps_rcvbyte), 3000u);
  EXPECT_EQ(script.count(tcps_rcvoopack), 1u);
  EXPECT_EQ(script.count(tcps_reasfree), 1u);
}

TEST(Transfer, OldAndOverlappingDataIsTrimmed) {
  Script script(Side::client, {.response = 10'000});
  script.establish(mss_option(1000));
  script.expect("request");
  script.send({.flags = kPshAck, .ack = 101, .length = 500});
  script.expect("ACK");
  script.send({.flags = kPshAck, .ack = 101, .length = 500});
  EXPECT_EQ(script.expect("ACK of a duplicate").acknowledgment, 501u);
  script.send({.flags = kPshAck, .seq = 301, .ack = 101, .length = 500});
  EXPECT_EQ(script.expect("ACK").acknowledgment, 801u);
  EXPECT_EQ(script.count(tcps_rcvduppack), 1u);
  EXPECT_EQ(script.count(tcps_rcvpartdupbyte), 200u);
  EXPECT_EQ(script.count(tcps_rcvbyte), 800u);
}

TEST(Transfer, InitialWindowAndSlowStart) {
  Script script(Side::server, {.response = 32000, .server_tcp = R"({"initwnd":2})"});
  script.establish(mss_option(1000));
  script.send({.flags = kPshAck, .length = 100});
  EXPECT_EQ(script.expect("1").sequence, 1u);
  EXPECT_EQ(script.expect("2").sequence, 1001u);
  script.expect_nothing("beyond initwnd 2");
  script.send({.seq = 101, .ack = 2001});
  for (uint32_t i = 0; i < 4; ++i) EXPECT_EQ(script.expect("doubled").sequence, 2001 + 1000 * i);
  script.expect_nothing("beyond 4");
}

TEST(Transfer, ThreeDuplicateAcksBringAFastRetransmission) {
  Script script(Side::server, {.response = 32000});
  script.establish(mss_option(1000));
  script.send({.flags = kPshAck, .length = 100});
  for (int i = 0; i < 10; ++i) script.expect("initial window");
  script.send({.seq = 101, .ack = 1001});
  script.expect("new");
  script.expect("new");
  for (int i = 0; i < 2; ++i) {
    script.send({.seq = 101, .ack = 1001});
    EXPECT_GT(script.expect("limited transmit").sequence, 10'000u);
  }
  script.send({.seq = 101, .ack = 1001});
  EXPECT_EQ(script.expect("fast retransmission").sequence, 1001u);
  EXPECT_EQ(script.count(tcps_sndrexmitpack), 1u);
  EXPECT_EQ(script.count(tcps_rexmttimeo), 0u);
}

TEST(Transfer, DuplicateAcksAfterATimeoutDoNotWidenTheWindow) {
  Script script(Side::server, {.response = 32000});
  script.establish(mss_option(1000));
  script.send({.flags = kPshAck, .length = 100});
  for (int i = 0; i < 10; ++i) script.expect("initial window");
  script.wait(300 * kMillisecond);
  EXPECT_EQ(script.expect("retransmission").sequence, 1u);
  for (int i = 0; i < 5; ++i) script.send({.seq = 101, .ack = 1});
  script.expect_nothing("the window is one segment");
  script.send({.seq = 101, .ack = 1001});
  EXPECT_EQ(script.expect("slow start").sequence, 1001u);
  EXPECT_EQ(script.expect("slow start").sequence, 2001u);
  script.expect_nothing("the window is two segments");
}

TEST(Transfer, SackRecoveryResendsOnlyTheHoles) {
  Script script(Side::server, {.response = 32000});
  script.establish(mss_option(1000) + sack_permitted_option());
  script.send({.flags = kPshAck, .length = 100});
  for (int i = 0; i < 10; ++i) script.expect("initial window");
  // Segments 1 (at 1) and 5 (at 4001) are lost.
  const auto range = [&](uint32_t from, uint32_t to) {
    return SequenceRange{script.stack_number(from), script.stack_number(to)};
  };
  script.send({.seq = 101, .ack = 1, .options = sack_option({range(1001, 2001)})});
  script.send({.seq = 101, .ack = 1, .options = sack_option({range(1001, 3001)})});
  script.send({.seq = 101, .ack = 1, .options = sack_option({range(1001, 4001)})});
  script.send(
      {.seq = 101, .ack = 1, .options = sack_option({range(5001, 6001), range(1001, 4001)})});
  script.send(
      {.seq = 101, .ack = 1, .options = sack_option({range(5001, 8001), range(1001, 4001)})});
  script.send(
      {.seq = 101, .ack = 1, .options = sack_option({range(5001, 10001), range(1001, 4001)})});
  std::vector<uint32_t> resent;
  script.send({.seq = 101, .ack = 4001, .options = sack_option({range(5001, 10001)})});
  while (script.count(tcps_sndrexmitpack) > resent.size()) {
    const TestSegment segment = script.expect("segment");
    if (segment.sequence < 10'000) resent.push_back(segment.sequence);
  }
  EXPECT_EQ(resent, (std::vector<uint32_t>{1, 4001}));
  EXPECT_EQ(script.count(tcps_rexmttimeo), 0u);
  EXPECT_EQ(script.count(tcps_sack_recovery_episode), 1u);
}

TEST(Transfer, RetransmissionBacksOffAndGivesUp) {
  Script script(Side::client, {});
  script.establish(mss_option(1460));
  script.expect("request");
  Nanoseconds waited = 0;
  std::vector<Nanoseconds> gaps;
  uint64_t seen = 0;
  Nanoseconds last = 0;
  while (script.open_flows() != 0 && waited < 60 * kSecond) {
    script.wait(10 * kMillisecond);
    waited += 10 * kMillisecond;
    if (script.count(tcps_sndrexmitpack) != seen) {
      seen = script.count(tcps_sndrexmitpack);
      gaps.push_back(waited - last);
      last = waited;
    }
  }
  EXPECT_EQ(seen, 6u);
  for (size_t i = 1; i < gaps.size(); ++i) EXPECT_GE(gaps[i] + 20 * kMillisecond, gaps[i - 1]);
  EXPECT_EQ(script.count(tcps_timeoutdrop), 1u);
  EXPECT_EQ(script.count(tcps_drops), 1u);
  EXPECT_EQ(script.open_flows(), 0u);
}

TEST(Transfer, AClosedWindowIsProbedAndTheTransferGoesOnWhenItOpens) {
  Script script(Side::server, {.response = 5000});
  script.establish(mss_option(1000), 1000);
  script.send({.flags = kPshAck, .length = 100, .window = 1000});
  EXPECT_EQ(script.expect("one window").length, 1000u);
  script.send({.seq = 101, .ack = 1001, .window = 0});
  script.expect_nothing("the window is closed");
  script.wait(1200 * kMillisecond);
  EXPECT_EQ(script.expect("probe").length, 1u);
  EXPECT_EQ(script.count(tcps_sndprobe), 1u);
  script.send({.seq = 101, .ack = 1001, .window = 0});
  script.wait(3 * kSecond);
  const uint64_t probes = script.count(tcps_sndprobe);
  EXPECT_GE(probes, 2u);
  for (uint64_t i = 1; i < probes; ++i) EXPECT_EQ(script.expect("another probe").sequence, 1001u);
  script.send({.seq = 101, .ack = 1001, .window = 4000});
  uint32_t next = 1001;
  for (int i = 0; i < 4; ++i) {
    const TestSegment segment = script.expect("data");
    EXPECT_EQ(segment.sequence, next);
    next += segment.length;
  }
  EXPECT_EQ(next, 5001u);
}

TEST(Transfer, KeepaliveProbesAnIdlePeerAndDropsADeadOne) {
  Script script(Side::client, {.response = 5000, .client_tcp = R"({"keepidle":5,"keepintvl":2})"});
  script.establish(mss_option(1460));
  script.expect("request");
  script.send({.ack = 101});
  script.wait(5100 * kMillisecond);
  const TestSegment probe = script.expect("keepalive probe");
  EXPECT_EQ(probe.sequence, 100u);
  EXPECT_EQ(probe.length, 0u);
  script.send({.ack = 101});
  script.wait(4 * kSecond);
  script.expect_nothing("the peer answered");
  script.wait(2 * kSecond);
  EXPECT_EQ(script.expect("next probe").sequence, 100u);
  script.wait(20 * kSecond);
  EXPECT_EQ(script.open_flows(), 0u);
  EXPECT_EQ(script.count(tcps_keepdrops), 1u);
}

TEST(Transfer, OldTimestampsAreDropped) {
  Script script(Side::client, {.response = 5000});
  script.establish(mss_option(1460) + timestamps_option(1000, 0));
  script.expect("request");
  script.send({.flags = kPshAck, .ack = 101, .length = 10, .options = timestamps_option(2000, 0)});
  EXPECT_EQ(script.expect("ACK").timestamp_echo, 2000u);
  script.send({.flags = kPshAck,
               .seq = 11,
               .ack = 101,
               .length = 10,
               .options = timestamps_option(1500, 0)});
  EXPECT_EQ(script.expect("ACK").acknowledgment, 11u);
  EXPECT_EQ(script.count(tcps_pawsdrop), 1u);
  EXPECT_EQ(script.count(tcps_rcvbyte), 10u);
}

/// docs/tcp.md: a device that takes the option away does not end a transfer.
TEST(Transfer, ASegmentWithoutTimestampsIsTakenOnAConnectionThatHasThem) {
  Script script(Side::client, {.response = 5000});
  script.establish(mss_option(1460) + timestamps_option(1000, 0));
  script.expect("request");
  script.send({.flags = kPshAck, .ack = 101, .length = 10});
  const TestSegment ack = script.expect("ACK");
  EXPECT_EQ(ack.acknowledgment, 11u);
  EXPECT_TRUE(ack.has_timestamps);
  EXPECT_EQ(ack.timestamp_echo, 1000u) << "what it had is kept";
  EXPECT_EQ(script.count(tcps_rcvbyte), 10u);
}

}  // namespace
}  // namespace engine::tcp
