// Ports behind a network that is not perfect: whole engines on their in-memory wire.

#include <gtest/gtest.h>

#include "io/engine_tools.h"

namespace engine {
namespace {

ImpairmentCounts counts(const Subjects& engine, uint32_t port, Direction direction) {
  for (const PortImpairment& one : engine.ports.impairments())
    if (one.port == port && one.direction == direction) return one.counts;
  return {};
}

uint64_t dropped(const Subjects& engine, uint32_t port, Drop reason) {
  uint64_t sum = 0;
  for (const PortDrops& drops : engine.ports.drops())
    if (drops.port == port) sum += drops.drops[reason];
  return sum;
}

class ImpairedFlows : public testing::TestWithParam<Direction> {};

TEST_P(ImpairedFlows, AreWholeAndEveryLossHasItsNameAndPort) {
  Engine machine(wires(1, 1));
  const Subjects engine = machine.subjects();
  engine.ports.impair(1, GetParam(),
                      {.loss = 0.02,
                       .duplication = 0.02,
                       .reordering = 0.02,
                       .congestion = 0.02,
                       .corruption = 0.02,
                       .delay = kMillisecond,
                       .jitter = 100 * kMicrosecond});
  const auto run = engine.runs.start(small_http(200), {}, 0xff);
  finish(*run);
  expect_all_flows_whole(engine, *run, 200);
  const ImpairmentCounts impaired = counts(engine, 1, GetParam());
  EXPECT_GT(impaired.frames, 500u);
  EXPECT_GT(impaired.lost, 0u);
  EXPECT_GT(impaired.duplicated, 0u);
  EXPECT_GT(impaired.reordered, 0u);
  EXPECT_GT(impaired.corrupted, 0u);
  EXPECT_EQ(impaired.delayed, impaired.frames - impaired.lost);
  EXPECT_EQ(dropped(engine, 1, Drop::impairment_loss), impaired.lost);
  EXPECT_EQ(dropped(engine, 0, Drop::impairment_loss), 0u);
  uint64_t noticed = 0;
  for (const uint32_t port : {0, 1})
    for (const Drop reason : {Drop::ip_checksum, Drop::transport_checksum})
      noticed += dropped(engine, port, reason);
  EXPECT_GT(noticed, 0u);
}

INSTANTIATE_TEST_SUITE_P(Directions, ImpairedFlows,
                         testing::Values(Direction::transmit, Direction::receive),
                         [](const auto& info) {
                           return info.param == Direction::transmit ? "sent" : "received";
                         });

// Over IPv6 the transport's checksum alone tells of damage, and what is sent here has none yet: the
// wire vouches for it.
TEST_P(ImpairedFlows, TakeNoDamagedPayload) {
  Engine machine(wires(1, 1));
  const Subjects engine = machine.subjects();
  engine.ports.impair(1, GetParam(), {.corruption = 0.03});
  const auto run =
      engine.runs.start(small_http(200, 80, true), {.payload_check = {.enabled = true}}, 0xff);
  finish(*run);
  EXPECT_GT(counts(engine, 1, GetParam()).corrupted, 0u);
  const uint32_t receiver = GetParam() == Direction::transmit ? 0 : 1;
  EXPECT_GT(dropped(engine, receiver, Drop::transport_checksum), 0u);
  uint64_t compared = 0;
  for (const PayloadBlock& block : run->report().payload)
    for (const PayloadCounts& side : block.sides) {
      compared += side.compared_bytes;
      EXPECT_EQ(side.mismatched_bytes, 0u);
    }
  EXPECT_GT(compared, 200u * 32000u);
}

TEST(ImpairedPort, CanBeImpairedAndRestoredUnderTraffic) {
  Engine machine(wires(1, 1));
  const Subjects engine = machine.subjects();
  const auto run = engine.runs.start(small_http(2000), {}, 0xff);
  for (uint32_t turn = 0; run->status().phase == RunPhase::opening; ++turn) {
    for (const Direction direction : {Direction::transmit, Direction::receive})
      engine.ports.impair(
          turn % 2, direction,
          {.loss = 0.01 * (turn % 3), .delay = turn % 4 * kMillisecond, .seed = turn});
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  for (uint32_t port : {0, 1})
    for (const Direction direction : {Direction::transmit, Direction::receive})
      engine.ports.impair(port, direction, {});
  finish(*run);
  expect_all_flows_whole(engine, *run, 2000);
  EXPECT_GT(counts(engine, 0, Direction::transmit).delayed, 0u);
  const uint64_t frames = counts(engine, 0, Direction::transmit).frames;
  engine.frames.send(0, {std::vector<uint8_t>(60)});
  EXPECT_EQ(counts(engine, 0, Direction::transmit).frames, frames) << "still on its way";
}

TEST(ImpairedPort, ACaptureSeesWhatIsOnTheWire) {
  Engine machine(wires(1, 1));
  const Subjects engine = machine.subjects();
  engine.ports.impair(0, Direction::transmit, {.duplication = 1, .delay = 50 * kMillisecond});
  engine.ports.impair(1, Direction::receive, {.loss = 1});
  for (uint32_t port : {0, 1})
    engine.frames.add_tap(port, {.received = true,
                                 .transmitted = true,
                                 .filter = *PacketFilter::compile("ether proto 0x88b5")});
  std::vector<uint8_t> bytes(2000, 7);
  bytes[12] = 0x88;
  bytes[13] = 0xb5;
  const auto before = static_cast<Nanoseconds>(engine.clock.now() * kSecond);
  EXPECT_EQ(engine.frames.send(0, {bytes}), 1u);
  bytes.assign(bytes.size(), 0);  // the one on its way is a copy
  size_t seen = 0;
  eventually([&] {
    engine.frames.read_seen([&](const SeenFrame& frame) {
      ++seen;
      EXPECT_EQ(frame.transmitted, frame.port == 0);
      EXPECT_EQ(frame.wire_length, 2000u);
      EXPECT_EQ(frame.bytes[1999], 7);
      EXPECT_GE(frame.time, before + 50 * kMillisecond - kMillisecond);
    });
    return seen >= 4;
  });
  EXPECT_EQ(seen, 4u);
  EXPECT_EQ(dropped(engine, 1, Drop::impairment_loss), 2u);
}

}  // namespace
}  // namespace engine
