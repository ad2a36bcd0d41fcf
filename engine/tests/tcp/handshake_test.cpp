#include "tcp/script.h"

namespace engine::tcp {
namespace {

using enum Counter;

TEST(Handshake, AClientOffersWhatItsTunablesSay) {
  Script plain(Side::client, {.client_tcp = R"({"mss":1200,"do_sack":0,"do_rfc1323":0})"});
  TestSegment syn = plain.expect("SYN");
  EXPECT_EQ(syn.mss, 1200);
  EXPECT_FALSE(syn.has_scale);
  EXPECT_FALSE(syn.has_timestamps);
  EXPECT_FALSE(syn.sack_permitted);

  Script full(Side::client, {.client_tcp = R"({"rxbufsize":1048576})"});
  syn = full.expect("SYN");
  EXPECT_EQ(syn.mss, 1460);
  EXPECT_TRUE(syn.has_scale);
  EXPECT_EQ(syn.scale, 5);  // 65535 << 5 is the first that holds 1 MiB
  EXPECT_TRUE(syn.has_timestamps);
  EXPECT_TRUE(syn.sack_permitted);
}

TEST(Handshake, AServerRepeatsOnlyWhatThePeerOffered) {
  Script script(Side::server, {});
  script.send({.flags = kSyn, .seq = 0, .options = mss_option(1000) + sack_permitted_option()});
  const TestSegment answer = script.expect("SYN-ACK");
  EXPECT_EQ(answer.flags, kSyn | kAck);
  EXPECT_TRUE(answer.sack_permitted);
  EXPECT_FALSE(answer.has_scale);
  EXPECT_FALSE(answer.has_timestamps);
}

TEST(Handshake, ThePeersMssAndWindowAreRespected) {
  Script script(Side::server, {.response = 5000});
  script.establish(mss_option(700), 1000);
  script.send({.flags = kAck | kPsh, .length = 100, .window = 1000});
  EXPECT_EQ(script.expect("first segment").length, 700u);
  // The rest of the window is less than a segment: it waits for the window (silly window
  // avoidance).
  script.expect_nothing("beyond the peer's window");
  script.send({.seq = 101, .ack = 701, .window = 1000});
  EXPECT_EQ(script.expect("second segment").length, 700u);
}

TEST(Handshake, AnIpv4PeerWithoutMssOptionGets536Bytes) {
  Script script(Side::server, {.response = 5000});
  script.establish();
  script.send({.flags = kAck | kPsh, .length = 100});
  EXPECT_EQ(script.expect("first segment").length, 536u);
}

TEST(Handshake, AScaledWindowCountsAsScaled) {
  Script script(Side::server, {.response = 20000, .server_tcp = R"({"txbufsize":65536})"});
  script.establish(mss_option(1000) + scale_option(4), 65535);
  script.send({.flags = kAck | kPsh, .length = 100, .window = 250});  // 4,000 bytes
  for (int i = 0; i < 4; ++i) EXPECT_EQ(script.expect("segment in the window").length, 1000u);
  script.expect_nothing("beyond 250 << 4");
}

TEST(Handshake, ALostSynIsSentAgainAndALostSynAckToo) {
  Script client(Side::client, {});
  const TestSegment first = client.expect("SYN");
  client.wait(1100 * kMillisecond);
  EXPECT_EQ(client.expect("SYN again").flags, kSyn);
  (void)first;
  EXPECT_EQ(client.count(tcps_rexmttimeo_syn), 1u);

  Script server(Side::server, {});
  server.send({.flags = kSyn, .seq = 0});
  server.expect("SYN-ACK");
  server.send({.flags = kSyn, .seq = 0});
  EXPECT_EQ(server.expect("SYN-ACK for the repeated SYN").flags, kSyn | kAck);
}

/// RFC 9293 section 3.10.7.4: whoever sends another SYN learns what is held of the first one.
TEST(Handshake, AnotherSynForAHalfOpenConnectionIsAnsweredByAnAck) {
  for (const uint8_t flags : {uint8_t{kSyn}, uint8_t{kSyn | kAck}})
    for (const uint32_t sequence : {777u, 0u - 777u, 10'000'000u}) {
      Script script(Side::server, {});
      script.send({.flags = kSyn, .seq = 0});
      script.expect("SYN-ACK");
      script.send({.flags = flags, .seq = sequence});
      const TestSegment answer = script.expect("challenge ACK");
      EXPECT_EQ(answer.flags, kAck) << sequence;
      EXPECT_EQ(answer.sequence, 1u) << sequence;
      EXPECT_EQ(answer.acknowledgment, 1u) << sequence;
      EXPECT_EQ(script.count(tcps_connects), 0u) << sequence;
      script.send({.flags = kRst, .seq = 1});  // as one answers that knows nothing of it
      EXPECT_EQ(script.open_flows(), 0u) << sequence;
    }
}

TEST(Handshake, AnUnfinishedOneIsGivenUpAfterKeepInit) {
  Script script(Side::server, {.server_tcp = R"({"keepinit":3})"});
  script.send({.flags = kSyn, .seq = 0});
  script.expect("SYN-ACK");
  EXPECT_EQ(script.open_flows(), 1u);
  script.wait(3100 * kMillisecond);
  EXPECT_EQ(script.open_flows(), 0u);
  EXPECT_EQ(script.count(tcps_keepdrops), 1u);
  EXPECT_EQ(script.count(tcps_accepts), 0u);
}

TEST(Handshake, AnAckOfAnOldConnectionIsResetAndTheSynSucceedsLater) {
  // A kernel peer that still has the port in TIME_WAIT answers a SYN with an ACK.
  Script script(Side::client, {});
  script.expect("SYN");
  script.send({.seq = 500, .ack = 7777});
  const TestSegment reset = script.expect("RST");
  EXPECT_EQ(reset.flags, kRst);
  EXPECT_EQ(reset.sequence, 7777u);
  script.wait(1100 * kMillisecond);
  script.expect("SYN again");
  script.send({.flags = kSyn | kAck, .seq = 0});
  EXPECT_EQ(script.expect("request").length, 100u);
  EXPECT_EQ(script.count(tcps_connects), 1u);
}

TEST(Handshake, ARefusalEndsTheFlow) {
  Script script(Side::client, {});
  script.expect("SYN");
  script.send({.flags = kRst | kAck, .seq = 0});
  EXPECT_EQ(script.open_flows(), 0u);
  EXPECT_EQ(script.count(tcps_conndrops), 1u);
  EXPECT_EQ(script.count(tcps_closed), 1u);
}

TEST(Handshake, SimultaneousOpenReachesEstablished) {
  Script script(Side::client, {});
  script.expect("SYN");
  script.send({.flags = kSyn, .seq = 0});
  EXPECT_EQ(script.expect("SYN-ACK").flags, kSyn | kAck);
  script.send({.flags = kSyn | kAck, .seq = 0});
  EXPECT_EQ(script.expect("request").length, 100u);
  EXPECT_EQ(script.count(tcps_connects), 1u);
}

/// RFC 7323 section 2.2: the window of a segment with SYN is not scaled.
TEST(Handshake, TheWindowOfASynAckIsNotScaledInASimultaneousOpenEither) {
  Script script(Side::client, {.request = 5000});
  script.expect("SYN");
  const auto options = mss_option(1000) + scale_option(7);
  script.send({.flags = kSyn, .seq = 0, .ack = 0, .window = 2000, .options = options});
  EXPECT_EQ(script.expect("SYN-ACK").flags, kSyn | kAck);
  script.send({.flags = kSyn | kAck, .seq = 0, .window = 2000, .options = options});
  EXPECT_EQ(script.info().send_window, 2000u);
  script.send({.window = 30});
  EXPECT_EQ(script.info().send_window, 30u << 7);
}

}  // namespace
}  // namespace engine::tcp
