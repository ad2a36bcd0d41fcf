#include "impairment/delay_line.h"

#include <gtest/gtest.h>

#include <vector>

namespace engine {
namespace {

/// A frame of `head` and, apart from it, `payload`.
Frame frame_of(std::vector<uint8_t>& head, const std::vector<uint8_t>& payload = {}) {
  Frame frame;
  frame.head = head.data();
  frame.head_length = static_cast<uint16_t>(head.size());
  if (!payload.empty()) frame.payload = payload.data();
  frame.payload_length = static_cast<uint32_t>(payload.size());
  return frame;
}

TEST(DelayLine, HandsOutCopiesInOrderOfTheirTimeAndThenOfTheirComing) {
  DelayLine line;
  EXPECT_EQ(line.next_due(), INT64_MAX);
  for (uint8_t mark : {1, 2, 3, 4}) {
    std::vector<uint8_t> head(60, mark);
    ASSERT_NE(line.put(frame_of(head), mark == 2 ? 50 : 20), nullptr);
  }
  EXPECT_EQ(line.next_due(), 20);
  EXPECT_EQ(line.take(19), nullptr);
  for (uint8_t mark : {1, 3, 4}) {
    const Frame* frame = line.take(20);
    ASSERT_NE(frame, nullptr);
    EXPECT_EQ(std::vector<uint8_t>(frame->head, frame->head + frame->head_length),
              std::vector<uint8_t>(60, mark));
  }
  EXPECT_EQ(line.take(49), nullptr);
  ASSERT_NE(line.take(1000), nullptr);
  EXPECT_TRUE(line.empty());
}

TEST(DelayLine, KeepsAFrameAsItWasInOnePiece) {
  DelayLine line;
  std::vector<uint8_t> head(54, 1);
  std::vector<uint8_t> payload(65'000, 2);
  Frame frame = frame_of(head, payload);
  frame.segment_size = 1460;
  frame.checksums = Checksums::partial;
  line.put(frame, 1);
  std::ranges::fill(head, 9);
  std::ranges::fill(payload, 9);
  const Frame* kept = line.take(1);
  ASSERT_NE(kept, nullptr);
  EXPECT_EQ(kept->head_length, 54u);
  EXPECT_EQ(kept->payload_length, 65'000u);
  EXPECT_EQ(kept->segment_size, 1460u);
  EXPECT_EQ(kept->checksums, Checksums::partial);
  EXPECT_EQ(kept->payload, kept->head + 54);
  EXPECT_EQ(std::vector<uint8_t>(kept->head, kept->head + 54), std::vector<uint8_t>(54, 1));
  EXPECT_EQ(std::vector<uint8_t>(kept->payload, kept->payload + 65'000),
            std::vector<uint8_t>(65'000, 2));
}

TEST(DelayLine, AFullLineTakesNoMoreUntilFramesAreReleased) {
  DelayLine line;
  std::vector<uint8_t> head(64, 1);
  std::vector<uint8_t> payload(60'000);
  const Frame frame = frame_of(head, payload);
  size_t held = 0;
  while (line.put(frame, 1) != nullptr) ++held;
  EXPECT_GT(held, DelayLine::kBytes / 61'000);
  EXPECT_LE(held, DelayLine::kBytes / 60'000);
  ASSERT_NE(line.take(1), nullptr);
  EXPECT_EQ(line.put(frame, 1), nullptr) << "what was taken is still read";
  line.release();
  EXPECT_NE(line.put(frame, 1), nullptr);
}

TEST(DelayLine, ContentHoldsOverManyTurnsOfTheRing) {
  DelayLine line;
  Nanoseconds now = 0;
  uint32_t seen = 0;
  for (uint32_t sent = 0; seen < 8000; ++sent) {
    std::vector<uint8_t> head(60 + sent % 5, static_cast<uint8_t>(sent));
    const std::vector<uint8_t> payload(sent * 7 % 30'000, static_cast<uint8_t>(sent));
    // Every tenth is held long: it is the oldest of what is left.
    ASSERT_NE(line.put(frame_of(head, payload), now + (sent % 10 == 0 ? 600 : 300)), nullptr);
    ++now;
    while (const Frame* frame = line.take(now)) {
      const uint8_t mark = frame->head[0];
      ASSERT_EQ(frame->head[frame->length() - 1], mark);
      ASSERT_EQ(frame->head[frame->length() / 2], mark);
      ++seen;
    }
    line.release();
  }
}

}  // namespace
}  // namespace engine
