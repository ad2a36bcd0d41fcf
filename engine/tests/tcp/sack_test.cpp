// What a receiver reports by SACK: RFC 2018 section 4.

#include <gmock/gmock.h>

#include "tcp/script.h"

namespace engine::tcp {
namespace {

using enum Counter;
using testing::ElementsAre;
using Block = std::pair<uint32_t, uint32_t>;

constexpr uint32_t kMss = 1000;

/// A client that has sent its request and receives segments of kMss bytes.
struct Receiver : Script {
  Receiver() : Script(Side::client, {.response = 100'000}) {
    establish(mss_option(kMss) + sack_permitted_option());
    expect("request");
  }
  /// The answer to a segment that begins at `from`.
  TestSegment answer(uint32_t from) {
    send({.flags = kPsh | kAck, .seq = from, .ack = 101, .length = kMss});
    return expect("ACK");
  }
  static std::vector<Block> blocks(const TestSegment& segment) {
    std::vector<Block> blocks;
    for (unsigned i = 0; i < segment.sack_count; ++i)
      blocks.emplace_back(segment.sack[i].start - kPeerIsn, segment.sack[i].end - kPeerIsn);
    return blocks;
  }
};

/// To a sender a block below the acknowledgment is a D-SACK: it got there twice (RFC 2883).
TEST(Sack, ADeliveredBlockIsNotReportedAgain) {
  Receiver script;
  script.answer(1);
  EXPECT_THAT(script.blocks(script.answer(4001)), ElementsAre(Block{4001, 5001}));
  EXPECT_THAT(script.blocks(script.answer(2001)),
              ElementsAre(Block{2001, 3001}, Block{4001, 5001}));
  const TestSegment filled = script.answer(1001);
  EXPECT_EQ(filled.acknowledgment, 3001u);
  EXPECT_THAT(script.blocks(filled), ElementsAre(Block{4001, 5001}));
}

TEST(Sack, AfterTheBlockOfTheLastSegmentTheMostRecentlyReportedOnesFollow) {
  Receiver script;
  for (const uint32_t from : {2001, 4001, 6001, 8001}) script.answer(from);
  EXPECT_THAT(
      script.blocks(script.answer(10'001)),
      ElementsAre(Block{10'001, 11'001}, Block{8001, 9001}, Block{6001, 7001}, Block{4001, 5001}));
  EXPECT_THAT(
      script.blocks(script.answer(6001)),
      ElementsAre(Block{6001, 7001}, Block{10'001, 11'001}, Block{8001, 9001}, Block{4001, 5001}))
      << "a duplicate beyond a hole: its block";
  EXPECT_THAT(
      script.blocks(script.answer(9001)),
      ElementsAre(Block{8001, 11'001}, Block{6001, 7001}, Block{4001, 5001}, Block{2001, 3001}))
      << "two blocks became one";
  script.answer(1);
  const TestSegment filled = script.answer(1001);
  EXPECT_EQ(filled.acknowledgment, 3001u);
  EXPECT_THAT(script.blocks(filled),
              ElementsAre(Block{8001, 11'001}, Block{6001, 7001}, Block{4001, 5001}));
}

TEST(Sack, BlocksThatHadNoRoomBeforeAreReportedWhenThereIs) {
  Receiver script;
  for (const uint32_t from : {12'001, 10'001, 8001, 6001, 4001, 2001}) script.answer(from);
  for (const uint32_t from : {1, 1001, 3001, 5001}) script.answer(from);
  const TestSegment filled = script.answer(7001);
  EXPECT_EQ(filled.acknowledgment, 9001u);
  EXPECT_THAT(script.blocks(filled), ElementsAre(Block{10'001, 11'001}, Block{12'001, 13'001}));
}

TEST(Sack, AReportIsSentBesideDataThatLeavesAtTheSameTime) {
  Script script(Side::server, {.response = 32'000, .server_tcp = R"({"initwnd":2})"});
  script.establish(mss_option(kMss) + sack_permitted_option());
  script.send({.flags = kPsh | kAck, .length = 100});
  for (int i = 0; i < 2; ++i) script.expect("response");
  script.send({.flags = kPsh | kAck, .seq = 201, .ack = 2001, .length = 100});
  for (int i = 0; i < 4; ++i) EXPECT_EQ(script.expect("response goes on").length, kMss);
  const TestSegment report = script.expect("ACK");
  EXPECT_EQ(report.acknowledgment, 101u);
  EXPECT_THAT(Receiver::blocks(report), ElementsAre(Block{201, 301}));
  script.expect_nothing("one report");
}

/// Whatever is lost, delayed and sent again.
TEST(Sack, OverABadWireNoBlockIsAtOrBelowItsAcknowledgment) {
  netsim::Settings settings;
  settings.to_client = {.loss = 0.05, .reordering = 0.1};
  settings.to_server = {.loss = 0.05};
  RunOptions options;
  options.duration = 2 * kSecond;
  netsim::Network network(settings, netsim::profile({.response = 200'000, .cps = 20}), options);
  uint64_t blocks = 0;
  uint64_t below = 0;
  network.filter = [&](const netsim::Seen& seen) {
    if (seen.kind != PacketKind::tcp) return true;
    for (unsigned i = 0; i < seen.segment.sack_count; ++i) {
      ++blocks;
      if (!after(seen.segment.sack[i].start, seen.segment.acknowledgment)) ++below;
    }
    return true;
  };
  ASSERT_TRUE(network.drain(120 * kSecond));
  EXPECT_GT(blocks, 1000u);
  EXPECT_EQ(below, 0u);
}

}  // namespace
}  // namespace engine::tcp
