#include <gtest/gtest.h>

#include "net/recording_device.h"

namespace engine {
namespace {

void send_one(TransmitQueue& queue, uint8_t mark) {
  Frame* frame = queue.next();
  ASSERT_NE(frame, nullptr);
  frame->head[0] = mark;
  frame->head_length = 1;
  queue.commit();
}

TEST(TransmitQueue, AsksForAHeadWhenASlotHasNone) {
  RecordingDevice device;
  TransmitQueue queue(device, {});
  EXPECT_EQ(device.refills, 0u);
  EXPECT_NE(queue.next(), nullptr);
  EXPECT_NE(queue.next(), nullptr);
  EXPECT_EQ(device.refills, 1u);
  queue.flush();
  EXPECT_TRUE(device.sent.empty());
}

TEST(TransmitQueue, HandsOverInOrderWhenFullAndWhenFlushed) {
  RecordingDevice device;
  TransmitQueue queue(device, {});
  const size_t count = 2 * TransmitQueue::kBurst + 3;
  for (size_t i = 0; i < count; ++i) send_one(queue, static_cast<uint8_t>(i));
  EXPECT_EQ(device.sent.size(), 2 * TransmitQueue::kBurst);
  queue.flush();
  ASSERT_EQ(device.sent.size(), count);
  for (size_t i = 0; i < count; ++i) EXPECT_EQ(device.sent[i][0], static_cast<uint8_t>(i));
}

TEST(TransmitQueue, ASlotNotCommittedIsNotSentAndComesBackClean) {
  RecordingDevice device;
  TransmitQueue queue(device, {});
  const uint8_t payload[3] = {};
  Frame* frame = queue.next();
  frame->payload = payload;
  frame->payload_length = 3;
  frame->segment_size = 1;
  frame->checksums = Checksums::partial;
  frame = queue.next();
  EXPECT_EQ(frame->payload, nullptr);
  EXPECT_EQ(frame->payload_length, 0u);
  EXPECT_EQ(frame->segment_size, 0u);
  EXPECT_EQ(frame->checksums, Checksums::in_frame);
  queue.flush();
  EXPECT_TRUE(device.sent.empty());
}

TEST(TransmitQueue, GoesOnAfterMemoryRanOut) {
  RecordingDevice device;
  device.out_of_memory = true;
  TransmitQueue queue(device, {});
  EXPECT_EQ(queue.next(), nullptr);
  EXPECT_EQ(queue.next(), nullptr);
  device.out_of_memory = false;
  send_one(queue, 7);
  queue.flush();
  ASSERT_EQ(device.sent.size(), 1u);
  EXPECT_EQ(device.sent[0][0], 7);
}

}  // namespace
}  // namespace engine
