// A send for which there was no frame buffer is made when there is one again.

#include "tcp/constants.h"
#include "tcp/script.h"

namespace engine::tcp {
namespace {

using enum Counter;

/// Within that time after there are buffers again. No timeout is as short.
constexpr Nanoseconds kSoon = 20 * kMillisecond;

/// One whose timers expire without a buffer for `duration`, then with buffers.
void starve(Script& script, Nanoseconds duration) {
  script.withhold_frames(true);
  script.wait(duration);
  script.expect_nothing("there is no buffer");
  script.withhold_frames(false);
  script.wait(kSoon);
}

/// A server that has an established connection.
struct Server : Script {
  explicit Server(const netsim::HttpLike& http = {.response = 1000}) : Script(Side::server, http) {
    establish(mss_option(1000));
  }
  void ask() { send({.flags = kPshAck, .length = 100}); }
};

TEST(NoFrame, ARetransmissionTimeoutIsNotLost) {
  Server script;
  script.ask();
  script.expect("response");
  starve(script, 300 * kMillisecond);
  EXPECT_EQ(script.expect("retransmission").sequence, 1u);
  EXPECT_EQ(script.count(tcps_rexmttimeo), 1u);
}

TEST(NoFrame, ALongShortageDoesNotCountAsUnansweredRetransmissions) {
  Server script({.response = 1000, .server_tcp = R"({"keepidle":600})"});
  script.ask();
  script.expect("response");
  starve(script, 60 * kSecond);
  EXPECT_EQ(script.expect("retransmission").sequence, 1u);
  EXPECT_EQ(script.count(tcps_rexmttimeo), 1u);
  script.send({.seq = 101, .ack = 1001});
  EXPECT_TRUE(script.expect("FIN").is(kFin));
}

TEST(NoFrame, AResponseWithNothingInFlightIsSentLater) {
  Server script;
  script.withhold_frames(true);
  script.ask();
  starve(script, 30 * kMillisecond);
  EXPECT_EQ(script.expect("response").length, 1000u);
  script.expect_nothing("it carries the ACK");
  EXPECT_EQ(script.count(tcps_rexmttimeo), 0u);
  EXPECT_EQ(script.count(tcps_sndrexmitpack), 0u);
}

TEST(NoFrame, TheTimeToTryAgainIsNoTimeoutOfWhatWasSentBefore) {
  Server script;
  script.withhold_frames(true);
  script.ask();
  script.withhold_frames(false);
  script.wait(5 * kMillisecond);
  script.ask();  // once more: what comes in lets the response out
  script.expect("response");
  script.wait(100 * kMillisecond);
  script.expect_nothing("the response is in flight, for less than a timeout");
}

TEST(NoFrame, AResetIsSentLater) {
  Script script(Side::server,
                {.server_commands = R"({"name":"rx","min_bytes":100},{"name":"reset"})"});
  script.establish();
  script.withhold_frames(true);
  script.send({.flags = kPshAck, .length = 100});
  starve(script, 30 * kMillisecond);
  EXPECT_EQ(script.expect("ACK").acknowledgment, 101u);
  EXPECT_TRUE(script.expect("RST").is(kRst));
  EXPECT_EQ(script.open_flows(), 0u);
}

TEST(NoFrame, AFinIsSentLater) {
  Server script;
  script.ask();
  script.expect("response");
  script.withhold_frames(true);
  script.send({.seq = 101, .ack = 1001});
  starve(script, 30 * kMillisecond);
  EXPECT_TRUE(script.expect("FIN").is(kFin));
  EXPECT_EQ(script.count(tcps_rexmttimeo), 0u);
}

TEST(NoFrame, AnAckOwedAtOnceIsSentLater) {
  Script script(Side::client, {});
  script.establish(mss_option(1460));
  script.expect("request");
  script.withhold_frames(true);
  script.send({.flags = kPshAck, .ack = 101, .length = 10});
  starve(script, 30 * kMillisecond);
  EXPECT_EQ(script.expect("ACK").acknowledgment, 11u);
  script.expect_nothing("one is enough");
}

TEST(NoFrame, ADelayedAckIsSentLater) {
  Script script(Side::client, {});
  script.establish(mss_option(1460));
  script.expect("request");
  script.send({.ack = 101, .length = 10});
  starve(script, 150 * kMillisecond);
  EXPECT_EQ(script.expect("ACK").acknowledgment, 11u);
}

TEST(NoFrame, ATailLossProbeIsSentLater) {
  Script script(Side::server, {.response = 6000});
  script.establish(mss_option(1000) + sack_permitted_option());
  script.send({.flags = kPshAck, .length = 100});
  for (int i = 0; i < 6; ++i) script.expect("response");
  script.send({.seq = 101, .ack = 3001});
  starve(script, 80 * kMillisecond);
  EXPECT_EQ(script.expect("probe").sequence, 5001u);
  EXPECT_EQ(script.count(tcps_rexmttimeo), 0u);
}

TEST(NoFrame, ASynAckIsSentLaterAndItsRoundTripTaken) {
  Script script(Side::server, {});
  script.withhold_frames(true);
  script.send({.flags = kSyn, .seq = 0});
  starve(script, 30 * kMillisecond);
  EXPECT_EQ(script.expect("SYN-ACK").flags, kSyn | kAck);
  EXPECT_EQ(script.count(tcps_rexmttimeo_syn), 0u);
  script.wait(40 * kMillisecond);
  script.send({});
  EXPECT_NEAR(script.info().rtt_us, 50'000, 12'000);
}

TEST(NoFrame, ASynIsNotGivenUpForRetransmissionsThatDidNotLeave) {
  Script script(Side::client, {.client_tcp = R"({"keepinit":60})"});
  script.expect("SYN");
  starve(script, 30 * kSecond);
  EXPECT_EQ(script.expect("SYN again").flags, kSyn);
  EXPECT_EQ(script.count(tcps_rexmttimeo_syn), 1u);
  EXPECT_EQ(script.open_flows(), 1u);
}

TEST(NoFrame, APersistProbeIsSentLater) {
  Script script(Side::server, {.response = 5000, .server_tcp = R"({"keepidle":600})"});
  script.establish(mss_option(1000), 1000);
  script.send({.flags = kPshAck, .length = 100, .window = 1000});
  script.expect("one window");
  script.send({.seq = 101, .ack = 1001, .window = 0});
  starve(script, 30 * kSecond);
  EXPECT_EQ(script.expect("probe").sequence, 1001u);
  EXPECT_EQ(script.count(tcps_sndprobe), 1u);
}

TEST(NoFrame, AKeepaliveProbeIsSentLaterAndOnlyThenCounts) {
  Script script(Side::client, {.client_tcp = R"({"keepidle":5,"keepintvl":2})"});
  script.establish(mss_option(1460));
  script.expect("request");
  script.send({.ack = 101});
  starve(script, 60 * kSecond);
  EXPECT_EQ(script.expect("probe").sequence, 100u);
  EXPECT_EQ(script.count(tcps_keepprobe), 1u);
  EXPECT_EQ(script.open_flows(), 1u);
}

/// Ten segments in flight, and of them the first was lost.
struct Loss {
  const char* name;
  bool sack;
  bool partial;  ///< the retransmission that finds no buffer is of a second loss, at 4001
};

class LossWithoutFrame : public testing::TestWithParam<Loss> {
 protected:
  /// An ACK of a server's response that tells of what came beyond it.
  static void acknowledge(Script& script, uint32_t number, uint32_t from, uint32_t to) {
    Out ack{.seq = 101, .ack = number};
    if (GetParam().sack)
      ack.options = sack_option({{script.stack_number(from), script.stack_number(to)}});
    script.send(ack);
  }
};

TEST_P(LossWithoutFrame, AFastRetransmissionIsSentLater) {
  Script script(Side::server, {.response = 10'000});
  script.establish(GetParam().sack ? mss_option(1000) + sack_permitted_option() : mss_option(1000));
  script.send({.flags = kPshAck, .length = 100});
  for (int i = 0; i < 10; ++i) script.expect("response");
  if (!GetParam().partial) script.withhold_frames(true);
  for (uint32_t to : {2001, 3001, 4001}) acknowledge(script, 1, 1001, to);
  if (GetParam().partial) {
    EXPECT_EQ(script.expect("fast retransmission").sequence, 1u);
    script.withhold_frames(true);
    acknowledge(script, 4001, 5001, 6001);
  }
  starve(script, 15 * kMillisecond);
  EXPECT_EQ(script.expect("fast retransmission").sequence, GetParam().partial ? 4001u : 1u);
  EXPECT_EQ(script.count(tcps_rexmttimeo), 0u);
  script.wait(5 * kSecond);
  EXPECT_GT(script.count(tcps_rexmttimeo), 0u) << "the timeout runs again";
}

INSTANTIATE_TEST_SUITE_P(NoFrame, LossWithoutFrame,
                         testing::Values(Loss{"NewReno", false, false},
                                         Loss{"NewRenoPartial", false, true},
                                         Loss{"Sack", true, false},
                                         Loss{"SackPartial", true, true}),
                         [](const auto& info) { return std::string(info.param.name); });

TEST(NoFrame, AHoleFoundInRecoveryIsResentLater) {
  Script script(Side::server, {.response = 10'000});
  script.establish(mss_option(1000) + sack_permitted_option());
  script.send({.flags = kPshAck, .length = 100});
  for (int i = 0; i < 10; ++i) script.expect("response");
  const auto report = [&](uint32_t from, uint32_t to) {
    script.send({.seq = 101,
                 .options = sack_option({{script.stack_number(from), script.stack_number(to)}})});
  };
  for (uint32_t to : {2001, 3001, 4001}) report(1001, to);
  EXPECT_EQ(script.expect("fast retransmission").sequence, 1u);
  script.withhold_frames(true);
  report(5001, 10'001);
  starve(script, 15 * kMillisecond);
  EXPECT_EQ(script.expect("the second hole").sequence, 4001u);
  EXPECT_EQ(script.count(tcps_rexmttimeo), 0u);
}

TEST(NoFrame, NewDataBehindOtherInFlightIsSentLater) {
  Script script(Side::server, {.response = 32'000, .server_tcp = R"({"initwnd":2})"});
  script.establish(mss_option(1000));
  script.send({.flags = kPshAck, .length = 100});
  for (int i = 0; i < 2; ++i) script.expect("initial window");
  script.withhold_frames(true);
  script.send({.seq = 101, .ack = 1001});
  starve(script, 15 * kMillisecond);
  EXPECT_EQ(script.expect("new data").sequence, 2001u);
  EXPECT_EQ(script.count(tcps_rexmttimeo), 0u);
  script.wait(5 * kSecond);
  EXPECT_GT(script.count(tcps_rexmttimeo), 0u) << "the timeout runs again";
}

TEST(NoFrame, AnAckOwedAtOnceDoesNotWaitForTheOneOfADelayedAck) {
  Script script(Side::client, {.client_tcp = R"({"delay_ack_msec":500})"});
  script.establish(mss_option(1460));
  script.expect("request");
  script.send({.ack = 101, .length = 10});
  script.withhold_frames(true);
  script.send({.flags = kPshAck, .seq = 11, .ack = 101, .length = 10});
  starve(script, 15 * kMillisecond);
  EXPECT_EQ(script.expect("ACK").acknowledgment, 21u);
}

TEST(NoFrame, ASynAckForASynThatCameAgainIsSentLater) {
  Script script(Side::server, {});
  script.send({.flags = kSyn, .seq = 0});
  script.expect("SYN-ACK");
  script.withhold_frames(true);
  script.send({.flags = kSyn, .seq = 0});
  starve(script, 15 * kMillisecond);
  EXPECT_EQ(script.expect("SYN-ACK").flags, kSyn | kAck);
  EXPECT_EQ(script.count(tcps_rexmttimeo_syn), 0u);
  script.wait(5 * kSecond);
  EXPECT_GT(script.count(tcps_rexmttimeo_syn), 0u) << "the timeout runs again";
}

TEST(NoFrame, AConnectionThatHasEndedLeavesNevertheless) {
  Script script(Side::client, {.response = 100});
  script.establish();
  script.expect("request");
  script.send({.ack = 101, .length = 100});
  script.expect("FIN");
  script.withhold_frames(true);
  script.send({.flags = kFin | kAck, .seq = 101, .ack = 102});
  script.wait(kTimeWait + kSoon);
  EXPECT_EQ(script.open_flows(), 0u);
}

}  // namespace
}  // namespace engine::tcp
