#include <gtest/gtest.h>

#include <algorithm>
#include <stdexcept>
#include <thread>
#include <vector>

#include "capture/frame_copier.h"

namespace engine {
namespace {

using Ring = RecordRing<SeenFrame>;

constexpr size_t kBytes = FrameCopier::kRingBytes;

/// Writes a frame of `length` bytes that all equal the low byte of `time`.
bool write(Ring& ring, Nanoseconds time, size_t length) {
  uint8_t* const room = ring.reserve(length);
  if (room == nullptr) return false;
  std::fill_n(room, length, static_cast<uint8_t>(time));
  SeenFrame seen;
  seen.time = time;
  seen.bytes = {room, length};
  ring.commit(seen);
  return true;
}

void expect_intact(const SeenFrame& seen) {
  const auto byte = static_cast<uint8_t>(seen.time);
  EXPECT_TRUE(std::ranges::all_of(seen.bytes, [&](uint8_t value) { return value == byte; }));
}

TEST(RecordRing, ManyTimesItsSizePassInOrder) {
  Ring ring{kBytes};
  Nanoseconds next = 0;
  Nanoseconds time = 0;
  for (size_t total = 0; total < 5 * kBytes;) {
    for (int i = 0; i < 7; ++i) {
      const size_t length = 60 + static_cast<size_t>(time) * 977 % 65000;
      ASSERT_TRUE(write(ring, time++, length));
      total += length;
    }
    ring.read([&](const SeenFrame& seen) {
      EXPECT_EQ(seen.time, next++);
      expect_intact(seen);
    });
  }
  EXPECT_EQ(next, time);
}

TEST(RecordRing, AReaderEndsThoughAWriterGoesOn) {
  Ring ring{kBytes};
  Nanoseconds time = 0;
  ASSERT_TRUE(write(ring, time++, 60));
  int read = 0;
  ring.read([&](const SeenFrame&) {
    ASSERT_LT(++read, 10);
    EXPECT_TRUE(write(ring, time++, 60));
  });
  EXPECT_EQ(read, 1);
}

TEST(RecordRing, FullTakesNoMoreAndLosesNothingItHas) {
  Ring ring{kBytes};
  Nanoseconds taken = 0;
  while (write(ring, taken, 1500)) ++taken;
  EXPECT_GT(taken, static_cast<Nanoseconds>(kBytes / 2000));
  EXPECT_FALSE(write(ring, taken, 1500));
  Nanoseconds next = 0;
  ring.read([&](const SeenFrame& seen) { EXPECT_EQ(seen.time, next++); });
  EXPECT_EQ(next, taken);
  EXPECT_TRUE(write(ring, taken, 1500));
}

TEST(RecordRing, AFrameThatItsReaderCannotTakeIsNotReadAgain) {
  Ring ring{kBytes};
  for (Nanoseconds time = 0; time < 3; ++time) write(ring, time, 100);
  std::vector<Nanoseconds> taken;
  const auto take = [&taken](const SeenFrame& seen) {
    taken.push_back(seen.time);
    if (seen.time == 1) throw std::runtime_error("no memory");
  };
  EXPECT_THROW(ring.read(take), std::runtime_error);
  ring.read(take);
  EXPECT_EQ(taken, (std::vector<Nanoseconds>{0, 1, 2}));
}

TEST(RecordRing, WriterAndReaderNeedNoLock) {
  Ring ring{kBytes};
  constexpr Nanoseconds kFrames = 20'000;
  std::thread writer([&ring] {
    for (Nanoseconds time = 0; time < kFrames;)
      if (write(ring, time, 1 + static_cast<size_t>(time) % 3000))
        ++time;
      else
        std::this_thread::yield();
  });
  Nanoseconds next = 0;
  while (next < kFrames) {
    ring.read([&](const SeenFrame& seen) {
      ASSERT_EQ(seen.time, next++);
      ASSERT_EQ(seen.bytes.size(), 1 + static_cast<size_t>(seen.time) % 3000);
      expect_intact(seen);
    });
    std::this_thread::yield();
  }
  writer.join();
}

}  // namespace
}  // namespace engine
