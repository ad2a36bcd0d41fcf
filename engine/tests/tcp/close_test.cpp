#include "tcp/script.h"

namespace engine::tcp {
namespace {

using enum Counter;

TEST(Close, TheClientClosesFirstAndKeepsTimeWait) {
  Script script(Side::client, {.response = 100});
  script.establish(mss_option(1460));
  script.expect("request");
  script.send({.ack = 101, .length = 100});
  const TestSegment fin = script.expect("FIN with the ACK of the response");
  EXPECT_EQ(fin.flags & (kFin | kAck), kFinAck);
  EXPECT_EQ(fin.acknowledgment, 101u);
  script.send({.seq = 101, .ack = 102});
  script.send({.flags = kFinAck, .seq = 101, .ack = 102});
  EXPECT_EQ(script.expect("ACK of the FIN").acknowledgment, 102u);
  EXPECT_EQ(script.open_flows(), 1u);
  script.send({.flags = kFinAck, .seq = 101, .ack = 102});
  EXPECT_EQ(script.expect("ACK of the repeated FIN").acknowledgment, 102u);
  script.wait(600 * kMillisecond);
  EXPECT_EQ(script.open_flows(), 0u);
  EXPECT_EQ(script.count(tcps_closed), 1u);
  EXPECT_EQ(script.count(tcps_drops), 0u);
}

TEST(Close, BothSidesAtOnce) {
  Script script(Side::client, {.response = 100});
  script.establish(mss_option(1460));
  script.expect("request");
  script.send({.flags = kFinAck, .ack = 101, .length = 100});
  const TestSegment fin = script.expect("FIN");
  EXPECT_TRUE(fin.is(kFin));
  EXPECT_EQ(fin.acknowledgment, 102u);
  script.send({.seq = 102, .ack = 102});
  script.wait(600 * kMillisecond);
  EXPECT_EQ(script.open_flows(), 0u);

  Script crossing(Side::client, {.response = 100});
  crossing.establish(mss_option(1460));
  crossing.expect("request");
  crossing.send({.ack = 101, .length = 100});
  EXPECT_TRUE(crossing.expect("FIN").is(kFin));
  crossing.send({.flags = kFinAck, .seq = 101, .ack = 101});  // it has not seen our FIN
  EXPECT_EQ(crossing.expect("ACK").acknowledgment, 102u);
  EXPECT_EQ(crossing.open_flows(), 1u);
  crossing.send({.seq = 102, .ack = 102});
  crossing.wait(600 * kMillisecond);
  EXPECT_EQ(crossing.open_flows(), 0u);
  EXPECT_EQ(crossing.count(tcps_rexmttimeo), 0u);
}

TEST(Close, AServerEndsInLastAck) {
  Script script(Side::server, {.response = 100});
  script.establish(mss_option(1460));
  script.send({.flags = kPsh | kAck, .length = 100});
  EXPECT_EQ(script.expect("response").length, 100u);
  script.send({.flags = kFinAck, .seq = 101, .ack = 101});
  const TestSegment fin = script.expect("FIN");
  EXPECT_TRUE(fin.is(kFin));
  EXPECT_EQ(fin.acknowledgment, 102u);
  script.send({.seq = 102, .ack = 102});
  EXPECT_EQ(script.open_flows(), 0u);
  EXPECT_EQ(script.count(tcps_closed), 1u);
}

TEST(Close, AHalfClosedConnectionStillCarriesTheResponse) {
  Script script(Side::server, {.response = 20'000});
  script.establish(mss_option(1000));
  script.send({.flags = kPsh | kFinAck, .length = 100});  // as after shutdown(SHUT_WR)
  uint32_t next = 1;
  bool fin = false;
  while (!fin) {
    const TestSegment segment = script.expect("response");
    ASSERT_EQ(segment.sequence, next);
    EXPECT_EQ(segment.acknowledgment, 102u);
    next += segment.length;
    fin = segment.is(kFin);
    script.send({.seq = 102, .ack = next + (fin ? 1 : 0)});
  }
  EXPECT_EQ(next, 20'001u);
  EXPECT_EQ(script.open_flows(), 0u);
  EXPECT_EQ(script.count(tcps_drops), 0u);
}

TEST(Close, ALostFinIsSentAgain) {
  Script script(Side::client, {.response = 100});
  script.establish(mss_option(1460));
  script.expect("request");
  script.send({.ack = 101, .length = 100});
  script.expect("FIN");
  script.wait(1200 * kMillisecond);
  EXPECT_TRUE(script.expect("FIN again").is(kFin));
}

TEST(Close, AFinAheadOfMissingDataCountsOnceTheDataIsThere) {
  Script script(
      Side::server,
      {.client_commands = "", .server_commands = R"({"name":"rx","min_bytes":200},{"name":"nc"})"});
  script.establish(mss_option(100));
  script.send({.flags = kFinAck, .seq = 101, .length = 100});
  EXPECT_EQ(script.expect("duplicate ACK").acknowledgment, 1u);
  script.send({.length = 100});
  const TestSegment fin = script.expect("ACK of data and FIN, and nc answers");
  EXPECT_EQ(fin.acknowledgment, 202u);
  EXPECT_TRUE(fin.is(kFin));
}

TEST(Close, OnlyTheExactSequenceNumberResets) {
  Script script(Side::client, {.response = 5000});
  script.establish(mss_option(1460));
  script.expect("request");
  script.send({.flags = kRst, .seq = 50});
  EXPECT_EQ(script.expect("challenge ACK").flags, kAck);
  EXPECT_EQ(script.open_flows(), 1u);
  script.send({.flags = kRst, .seq = 100'000});
  script.expect_nothing("a reset from outside the window");
  script.send({.flags = kRst, .seq = 1});
  EXPECT_EQ(script.open_flows(), 0u);
  EXPECT_EQ(script.count(tcps_drops), 1u);
}

TEST(Close, AResetAfterBothFinsIsNoAbort) {
  Script last_ack(Side::server, {.response = 100});
  last_ack.establish(mss_option(1460));
  last_ack.send({.flags = kPsh | kAck, .length = 100});
  last_ack.expect("response");
  last_ack.send({.flags = kFinAck, .seq = 101, .ack = 101});
  last_ack.expect("FIN");
  last_ack.send({.flags = kRst, .seq = 102});
  EXPECT_EQ(last_ack.open_flows(), 0u);
  EXPECT_EQ(last_ack.count(tcps_drops), 0u);

  Script time_wait(Side::client, {.response = 100});
  time_wait.establish(mss_option(1460));
  time_wait.expect("request");
  time_wait.send({.ack = 101, .length = 100});
  time_wait.expect("FIN");
  time_wait.send({.flags = kFinAck, .seq = 101, .ack = 102});
  time_wait.expect("ACK");
  time_wait.send({.flags = kRst, .seq = 102});
  EXPECT_EQ(time_wait.open_flows(), 1u);
  EXPECT_EQ(time_wait.count(tcps_drops), 0u);
}

TEST(Close, ASynInsideAConnectionIsChallenged) {
  Script script(Side::client, {.response = 5000});
  script.establish(mss_option(1460));
  script.expect("request");
  script.send({.flags = kSyn, .seq = 10});
  EXPECT_EQ(script.expect("challenge ACK").flags, kAck);
  EXPECT_EQ(script.open_flows(), 1u);
}

TEST(Close, AnAckOfDataNeverSentIsAnsweredAndIgnored) {
  Script script(Side::client, {.response = 5000});
  script.establish(mss_option(1460));
  script.expect("request");
  script.send({.ack = 90'000});
  EXPECT_EQ(script.expect("ACK").acknowledgment, 1u);
  EXPECT_EQ(script.count(tcps_rcvacktoomuch), 1u);
}

TEST(Close, AProgramsResetIsSentAndFreesTheFlow) {
  Script script(Side::server,
                {.server_commands = R"({"name":"rx","min_bytes":10},{"name":"reset"})"});
  script.establish(mss_option(1460));
  script.send({.flags = kPsh | kAck, .length = 10});
  EXPECT_TRUE(script.expect("RST").is(kRst));
  EXPECT_EQ(script.open_flows(), 0u);
}

TEST(Close, ASegmentWithoutAFlowIsRefused) {
  Script script(Side::server, {});
  script.send({.flags = kAck, .seq = 5, .ack = 4242});
  const TestSegment reset = script.expect("RST");
  EXPECT_TRUE(reset.is(kRst));
  EXPECT_EQ(reset.sequence, 4242u);
  script.send({.flags = kRst, .seq = 5});
  script.expect_nothing("a RST is never answered");
}

}  // namespace
}  // namespace engine::tcp
