// Single frames through an engine on its in-memory wire: looking at them and sending them.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <thread>

#include "io/engine.h"
#include "io/syn.h"

namespace engine {
namespace {

using ::testing::ElementsAre;

class FramesTest : public ::testing::Test {
 protected:
  static EngineConfig wire() {
    EngineConfig config;
    for (int port = 0; port < 2; ++port) config.ports.push_back({"wire", {}});
    return config;
  }

  /// Reads until `count` frames were seen.
  std::vector<std::vector<uint8_t>> seen(size_t count) {
    std::vector<std::vector<uint8_t>> frames;
    for (int i = 0; i < 3000 && frames.size() < count; ++i) {
      engine_.frames.read_seen([&](const SeenFrame& frame) {
        frames.emplace_back(frame.bytes.begin(), frame.bytes.end());
        frames.back().push_back(static_cast<uint8_t>(frame.port * 2 + frame.transmitted));
      });
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return frames;
  }

  void add_tap(uint32_t port, uint32_t number, const std::string& filter, uint64_t budget = 1000) {
    engine_.frames.add_tap(port, {.number = number,
                                  .received = true,
                                  .transmitted = true,
                                  .filter = *PacketFilter::compile(filter),
                                  .budget = budget});
  }

  Engine machine_{wire()};
  const Subjects engine_ = machine_.subjects();
};

/// A frame of an EtherType of its own, `length` bytes long, each its place in it.
std::vector<uint8_t> frame(size_t length, uint8_t type = 0xb5) {
  std::vector<uint8_t> bytes(length);
  for (size_t i = 0; i < length; ++i) bytes[i] = static_cast<uint8_t>(i);
  bytes[0] = 1;  // to a group: every port takes it
  bytes[12] = 0x88;
  bytes[13] = type;
  return bytes;
}

std::vector<uint8_t> at(uint32_t port, bool transmitted, std::vector<uint8_t> bytes) {
  bytes.push_back(static_cast<uint8_t>(port * 2 + transmitted));
  return bytes;
}

TEST_F(FramesTest, AFrameIsSeenWhereItLeavesAndWhereItArrives) {
  add_tap(0, 3, "");
  add_tap(1, 3, "");
  EXPECT_EQ(engine_.frames.send(0, {frame(60), frame(9000)}), 2u);
  EXPECT_THAT(seen(4),
              ::testing::UnorderedElementsAre(at(0, true, frame(60)), at(1, false, frame(60)),
                                              at(0, true, frame(9000)), at(1, false, frame(9000))));
}

TEST_F(FramesTest, ALongPacketIsReadWholeAtTheOtherEnd) {
  const auto dropped = [this](Drop reason) {
    uint64_t count = 0;
    for (const PortDrops& each : engine_.ports.drops()) count += each.drops[reason];
    return count;
  };
  ASSERT_EQ(engine_.frames.send(0, {syn(1000, 1000)}), 1u);
  for (int i = 0; i < 3000 && dropped(Drop::idle) + dropped(Drop::length) == 0; ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  EXPECT_EQ(dropped(Drop::length), 0u);
  EXPECT_EQ(dropped(Drop::idle), 1u) << "as of any segment while no profile runs";
}

TEST_F(FramesTest, EachTapSeesWhatItAskedForUntilItsBudgetEnds) {
  add_tap(1, 0, "ether proto 0x88b5", 2);
  add_tap(1, 1, "ether proto 0x88b6");
  engine_.frames.send(0, {frame(60, 0xb5), frame(60, 0xb5), frame(60, 0xb5), frame(60, 0xb6)});
  std::vector<uint64_t> taps;
  for (int i = 0; i < 3000 && taps.size() < 3; ++i) {
    engine_.frames.read_seen([&](const SeenFrame& seen) { taps.push_back(seen.taps); });
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  EXPECT_THAT(taps, ElementsAre(1, 1, 2));
}

TEST_F(FramesTest, NothingIsSeenOnceNobodyLooks) {
  add_tap(0, 0, "");
  engine_.frames.remove_tap(0);
  engine_.frames.send(0, {frame(60)});
  add_tap(1, 1, "");
  engine_.frames.send(0, {frame(61)});
  EXPECT_THAT(seen(1), ElementsAre(at(1, false, frame(61))));
}

TEST_F(FramesTest, FramesThatNobodyFetchesAreCountedAsUnseen) {
  add_tap(1, 0, "", UINT64_MAX);
  const size_t frames = FrameCopier::kRingBytes / 9000 + 100;
  for (size_t i = 0; i < frames; ++i) ASSERT_EQ(engine_.frames.send(0, {frame(9000)}), 1u);
  const size_t kept = seen(frames).size();
  EXPECT_LT(kept, frames);
  EXPECT_EQ(kept + engine_.frames.unseen(1), frames);
  EXPECT_EQ(engine_.frames.unseen(0), 0u);
}

}  // namespace
}  // namespace engine
