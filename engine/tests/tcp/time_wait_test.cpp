// Connections in TIME_WAIT: a record of one cache line stands for the flow until a segment comes.

#include <gtest/gtest.h>

#include "tcp/script.h"

namespace engine::tcp {
namespace {

using enum Counter;

constexpr uint32_t kPeersTime = 5000;

std::vector<uint8_t> syn_options() {
  return mss_option(1460) + scale_option(7) + sack_permitted_option() +
         timestamps_option(kPeersTime, 0);
}

std::vector<uint8_t> at(uint32_t time) {
  return timestamps_option(time, 0);
}

/// A client that has closed first; its TIME_WAIT has just begun.
class InTimeWait : public testing::Test {
 protected:
  InTimeWait() : script(Side::client, {.response = 100}) {
    script.establish(syn_options());
    script.expect("request");
    script.send({.ack = 101, .length = 100, .options = at(kPeersTime + 1)});
    script.expect("FIN");
    script.send(fin(kPeersTime + 2));
    last_ack = script.expect("ACK");
  }
  static Out fin(uint32_t time) {
    return {.flags = kFinAck, .seq = 101, .ack = 102, .options = at(time)};
  }
  PoolStatus pool(const std::string& kind) const { return script.pool(kind); }

  Script script;
  TestSegment last_ack;
};

TEST_F(InTimeWait, OneCacheLineIsKeptAndNoFlow) {
  EXPECT_EQ(script.open_flows(), 1u);
  EXPECT_EQ(pool("flow").in_use, 0u);
  EXPECT_EQ(pool("connection in TIME_WAIT").in_use, 1u);
  EXPECT_LE(pool("connection in TIME_WAIT").object_bytes, 64u);
  EXPECT_LE(pool("flow").object_bytes, 192u);
  EXPECT_EQ(script.count(tcps_closed), 0u);
  script.wait(501 * kMillisecond);
  EXPECT_EQ(script.open_flows(), 0u);
  EXPECT_EQ(pool("connection in TIME_WAIT").in_use, 0u);
  EXPECT_EQ(script.count(tcps_closed), 1u);
}

TEST_F(InTimeWait, AFinThatComesAgainIsAnsweredAsBeforeAndRestartsIt) {
  script.wait(400 * kMillisecond);
  script.send(fin(kPeersTime + 3));
  const TestSegment again = script.expect("ACK of the FIN that came again");
  EXPECT_EQ(again.flags, kAck);
  EXPECT_EQ(again.sequence, last_ack.sequence);
  EXPECT_EQ(again.acknowledgment, last_ack.acknowledgment);
  EXPECT_EQ(again.window, last_ack.window);
  EXPECT_EQ(again.timestamp_echo, kPeersTime + 3);
  EXPECT_GT(again.timestamp, last_ack.timestamp);
  EXPECT_EQ(pool("flow").in_use, 0u);
  EXPECT_EQ(script.count(tcps_rcvtotal), 4u);
  EXPECT_EQ(script.count(tcps_rcvduppack), 0u);
  script.wait(498 * kMillisecond);
  EXPECT_EQ(script.open_flows(), 1u);
  script.wait(3 * kMillisecond);
  EXPECT_EQ(script.open_flows(), 0u);
  EXPECT_EQ(script.count(tcps_closed), 1u);
}

TEST_F(InTimeWait, WhatDoesNotRestartItLeavesItsEndWhereItWas) {
  script.wait(400 * kMillisecond);
  script.send(fin(kPeersTime - 1'000'000));  // older than the connection, RFC 7323 section 5.3
  EXPECT_EQ(script.expect("challenge ACK").acknowledgment, 102u);
  EXPECT_EQ(script.count(tcps_pawsdrop), 1u);
  script.send({.flags = kRst, .seq = 102, .ack = 102});
  script.expect_nothing("a reset in TIME_WAIT is ignored");
  EXPECT_EQ(script.open_flows(), 1u);
  script.wait(101 * kMillisecond);
  EXPECT_EQ(script.open_flows(), 0u);
  EXPECT_EQ(script.count(tcps_closed), 1u);
}

TEST_F(InTimeWait, ItIsToldOfAsBefore) {
  const Info info = script.info();
  EXPECT_EQ(info.state, FlowState::time_wait);
  EXPECT_EQ(info.sent, 102u);
  EXPECT_EQ(info.received, 102u);
  EXPECT_TRUE(info.timestamps && info.sack && info.scaling);
  script.wait(100 * kMillisecond);
  EXPECT_GE(script.info().age, info.age + 100 * kMillisecond);
  script.send(fin(kPeersTime + 3));
  script.expect("ACK");
  EXPECT_EQ(script.info().congestion_window, info.congestion_window);
}

TEST(TimeWait, AnAckThatFoundNoFrameIsSentLater) {
  Script script(Side::client, {.response = 100});
  script.establish(mss_option(1460));
  script.expect("request");
  script.send({.ack = 101, .length = 100});
  script.expect("FIN");
  script.withhold_frames(true);
  script.send({.flags = kFinAck, .seq = 101, .ack = 102});
  script.expect_nothing("there is no frame");
  script.withhold_frames(false);
  script.wait(20 * kMillisecond);
  EXPECT_EQ(script.expect("ACK").acknowledgment, 102u);
  script.wait(500 * kMillisecond);
  EXPECT_EQ(script.open_flows(), 0u);
  EXPECT_EQ(script.count(tcps_closed), 1u);
}

TEST(TimeWait, ALaterSynOpensANewConnection) {
  Script script(Side::server,
                {.server_commands = R"({"name":"connect"})"});  // closes once it is connected
  script.establish(mss_option(1460));
  script.expect("FIN");
  script.send({.flags = kFinAck, .seq = 1, .ack = 2});
  script.expect("ACK");
  EXPECT_EQ(script.pool("connection in TIME_WAIT").in_use, 1u);
  script.send({.flags = kSyn, .seq = 0, .options = mss_option(1460)});
  EXPECT_EQ(script.expect("challenge ACK of an old SYN").flags, kAck);
  script.send({.flags = kSyn, .seq = 100'000, .options = mss_option(1460)});
  EXPECT_EQ(script.expect("SYN-ACK").flags, kSyn | kAck);
  EXPECT_EQ(script.open_flows(), 1u);
  EXPECT_EQ(script.count(tcps_closed), 1u);
}

/// RFC 6191: whether a SYN opens a new connection in TIME_WAIT.
struct NewSyn {
  const char* name;
  bool stamped_before;  ///< the connection in TIME_WAIT had time stamps
  uint32_t sequence;    ///< of the SYN; 2 is the next one expected
  int time;             ///< of the SYN, from the last one seen; kNoTime: it has none
  bool opens;
};
constexpr int kNoTime = INT32_MAX;

class SynInTimeWait : public testing::TestWithParam<NewSyn> {};

TEST_P(SynInTimeWait, OpensANewConnectionIfItIsNewer) {
  const NewSyn& with = GetParam();
  Script script(Side::server, {.server_commands = R"({"name":"connect"})"});
  if (with.stamped_before) {
    script.send({.flags = kSyn, .seq = 0, .options = syn_options()});
    script.expect("SYN-ACK");
    script.send({.options = at(kPeersTime + 10)});
    script.expect("FIN");
    script.send({.flags = kFinAck, .seq = 1, .ack = 2, .options = at(kPeersTime + 10)});
  } else {
    script.establish(mss_option(1460));
    script.expect("FIN");
    script.send({.flags = kFinAck, .seq = 1, .ack = 2});
  }
  script.expect("ACK");
  ASSERT_EQ(script.pool("connection in TIME_WAIT").in_use, 1u);
  Out syn{.flags = kSyn, .seq = with.sequence, .options = mss_option(1460)};
  if (with.time != kNoTime)
    syn.options = syn.options + at(kPeersTime + 10 + static_cast<uint32_t>(with.time));
  script.send(syn);
  EXPECT_EQ(script.expect("answer").flags, with.opens ? kSyn | kAck : kAck);
  EXPECT_EQ(script.count(tcps_closed), with.opens ? 1u : 0u);
  EXPECT_EQ(script.open_flows(), 1u);
}

INSTANTIATE_TEST_SUITE_P(
    TimeWait, SynInTimeWait,
    testing::Values(NewSyn{"NewerTimeAndOlderNumber", true, 0u - 100'000, 1, true},
                    NewSyn{"NewerTimeAndNewerNumber", true, 100'000, 1, true},
                    NewSyn{"SameTimeAndNewerNumber", true, 100'000, 0, true},
                    NewSyn{"SameTimeAndOlderNumber", true, 0u - 100'000, 0, false},
                    NewSyn{"OlderTimeAndNewerNumber", true, 100'000, -1, false},
                    NewSyn{"NoMoreTimeAndNewerNumber", true, 100'000, kNoTime, true},
                    NewSyn{"NoMoreTimeAndOlderNumber", true, 0u - 100'000, kNoTime, false},
                    NewSyn{"NowATimeAndOlderNumber", false, 0u - 100'000, 1, true},
                    NewSyn{"NeverATimeAndNewerNumber", false, 100'000, kNoTime, true},
                    NewSyn{"NeverATimeAndOlderNumber", false, 0u - 100'000, kNoTime, false}),
    [](const auto& info) { return std::string(info.param.name); });

/// Nobody listens at a client, so it has no connection to open instead.
TEST_F(InTimeWait, ASynToAClientDoesNotEndIt) {
  script.send({.flags = kSyn, .seq = 100'000, .ack = 0, .options = at(kPeersTime + 10)});
  EXPECT_EQ(script.expect("challenge ACK").flags, kAck);
  EXPECT_EQ(script.open_flows(), 1u);
}

}  // namespace
}  // namespace engine::tcp
