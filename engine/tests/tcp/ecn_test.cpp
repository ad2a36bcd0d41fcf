// Explicit congestion notification, RFC 3168 section 6.1.

#include "tcp/script.h"

namespace engine::tcp {
namespace {

using enum Counter;

constexpr uint8_t kAsks = kSyn | kEce | kCwr;
constexpr uint8_t kEct0 = 2;
constexpr uint8_t kCongestion = 3;

/// A server that agreed on ECN and was asked for `response` bytes; the peer's next byte is 101.
void establish_server(Script& script) {
  script.send({.flags = kAsks, .seq = 0, .options = mss_option(1000)});
  EXPECT_EQ(script.expect("SYN-ACK that agrees").flags, kSyn | kAck | kEce);
  EXPECT_EQ(script.code_point(), 0);
  script.send({});
  script.send({.flags = kPshAck, .length = 100, .code_point = kEct0});
}

TEST(Ecn, AnActiveClientAsksAndMarksItsDataOnceTheServerAgreed) {
  Script script(Side::client, {.client_tcp = R"({"do_ecn":1})"});
  EXPECT_EQ(script.expect("SYN that asks").flags, kAsks);
  EXPECT_EQ(script.code_point(), 0) << "a SYN is not capable";
  script.send({.flags = kSyn | kAck | kEce, .seq = 0, .options = mss_option(1000)});
  EXPECT_EQ(script.expect("request").flags, kPshAck);
  EXPECT_EQ(script.code_point(), kEct0);
  EXPECT_EQ(script.count(tcps_ecn_shs), 1u);
}

TEST(Ecn, NothingIsMarkedWhenTheServerDoesNotAgreeOrReflects) {
  for (const uint8_t extra : {0, kEce | kCwr}) {
    Script script(Side::client, {.client_tcp = R"({"do_ecn":1})"});
    script.expect("SYN");
    script.send({.flags = static_cast<uint8_t>(kSyn | kAck | extra), .seq = 0});
    script.expect("request");
    EXPECT_EQ(script.code_point(), 0);
    EXPECT_EQ(script.count(tcps_ecn_shs), 0u);
  }
}

TEST(Ecn, APassiveClientDoesNotAskAndAPassiveServerAgrees) {
  Script client(Side::client, {.client_tcp = R"({"do_ecn":2})"});
  EXPECT_EQ(client.expect("SYN").flags, kSyn);
  Script server(Side::server, {.server_tcp = R"({"do_ecn":2})"});
  server.send({.flags = kAsks, .seq = 0});
  EXPECT_EQ(server.expect("SYN-ACK").flags, kSyn | kAck | kEce);
  Script none(Side::server, {.server_tcp = R"({"do_ecn":0})"});
  none.send({.flags = kAsks, .seq = 0});
  EXPECT_EQ(none.expect("SYN-ACK").flags, kSyn | kAck);
}

TEST(Ecn, ASynSentAgainDoesNotAsk) {
  Script script(Side::client, {.client_tcp = R"({"do_ecn":1})"});
  script.expect("SYN");
  script.wait(1100 * kMillisecond);
  EXPECT_EQ(script.expect("SYN again").flags, kSyn);
}

TEST(Ecn, AMarkIsEchoedUntilThePeerReducedItsWindow) {
  Script script(Side::server, {.request = 1000, .server_tcp = R"({"do_ecn":1})"});
  establish_server(script);
  EXPECT_EQ(script.expect("ACK").flags, kAck);
  script.send({.flags = kPshAck, .seq = 101, .length = 100, .code_point = kCongestion});
  EXPECT_EQ(script.expect("echo").flags, kAck | kEce);
  script.send({.flags = kPshAck, .seq = 201, .length = 100, .code_point = kEct0});
  EXPECT_EQ(script.expect("echo goes on").flags, kAck | kEce);
  script.send({.flags = kPshAck | kCwr, .seq = 301, .length = 100, .code_point = kEct0});
  EXPECT_EQ(script.expect("echo is over").flags, kAck);
  EXPECT_EQ(script.count(tcps_ecn_ce), 1u);
  EXPECT_EQ(script.count(tcps_ecn_ect0), 3u);
}

TEST(Ecn, AnEchoHalvesTheWindowOnceInAWindowOfDataAndIsAnsweredByCwr) {
  Script script(Side::server, {.response = 100'000, .server_tcp = R"({"do_ecn":1})"});
  establish_server(script);
  for (int i = 0; i < 10; ++i) {
    EXPECT_FALSE(script.expect("initial window").is(kCwr));
    EXPECT_EQ(script.code_point(), kEct0);
  }
  script.send({.flags = kAck | kEce, .seq = 101, .ack = 5001});
  script.expect_nothing("5 of 10 are in flight, and 5 is the window now");
  script.send({.flags = kAck | kEce, .seq = 101, .ack = 7001});
  EXPECT_TRUE(script.expect("first new segment").is(kCwr));
  EXPECT_FALSE(script.expect("second").is(kCwr));
  script.expect_nothing("the second echo of the window halves nothing, nor does it grow");
  EXPECT_EQ(script.count(tcps_ecn_rcwnd), 1u);
  script.send({.flags = kAck | kEce, .seq = 101, .ack = 12'001});
  EXPECT_EQ(script.count(tcps_ecn_rcwnd), 1u) << "reaches beyond the window, but carries its echo";
  script.expect("new");
}

TEST(Ecn, ARetransmissionIsNotMarked) {
  Script script(Side::client, {.client_tcp = R"({"do_ecn":1})"});
  script.expect("SYN");
  script.send({.flags = kSyn | kAck | kEce, .seq = 0});
  script.expect("request");
  script.wait(1100 * kMillisecond);
  EXPECT_EQ(script.expect("request again").sequence, 1u);
  EXPECT_EQ(script.code_point(), 0);
}

}  // namespace
}  // namespace engine::tcp
