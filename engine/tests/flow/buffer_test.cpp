#include "flow/buffer.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>

namespace engine {
namespace {

/// The bytes a buffer stands for, one by one from its definition.
std::string materialised(const std::string& base, size_t size, const std::string& fill) {
  std::string bytes = base.substr(0, std::min(base.size(), size));
  for (size_t i = 0; bytes.size() < size; ++i)
    bytes.push_back(fill.empty() ? static_cast<char>(i & 255) : fill[i % fill.size()]);
  return bytes;
}

/// The checksum's definition: big-endian words, carries folded in. 0 and 0xffff are one number.
uint16_t reference_sum(const std::string& bytes, size_t offset, size_t length) {
  uint64_t sum = 0;
  for (size_t i = 0; i < length; ++i) {
    const auto byte = static_cast<uint8_t>(bytes[offset + i]);
    sum += i % 2 == 0 ? byte << 8 : byte;
  }
  while (sum > 0xffff) sum = (sum & 0xffff) + (sum >> 16);
  return sum == 0xffff ? 0 : static_cast<uint16_t>(sum);
}

uint16_t sum_of(const Buffer& buffer, uint32_t offset, uint32_t length) {
  const uint16_t sum = checksum_fold(buffer.sum(offset, length));
  return sum == 0xffff ? 0 : sum;
}

std::string random_bytes(std::mt19937& random, size_t size) {
  std::string bytes(size, '\0');
  for (char& byte : bytes) byte = static_cast<char>(random());
  return bytes;
}

struct Shape {
  size_t base;
  size_t size;
  size_t fill;
};

class BufferSpans : public testing::TestWithParam<Shape> {};

TEST_P(BufferSpans, AreThoseOfTheWholeBuffer) {
  std::mt19937 random(7);
  const std::string base = random_bytes(random, GetParam().base);
  const std::string fill = random_bytes(random, GetParam().fill);
  const std::string whole = materialised(base, GetParam().size, fill);
  const Buffer buffer(base, whole.size(), fill);
  ASSERT_EQ(buffer.size(), whole.size());
  for (int round = 0; round < 400; ++round) {
    const auto offset = static_cast<uint32_t>(random() % (whole.size() + 1));
    const size_t most = std::min<size_t>(whole.size() - offset, Buffer::kMaxSpan);
    // Short spans, which are added directly, as often as long ones.
    const auto length =
        static_cast<uint32_t>(random() % (std::min<size_t>(most, round % 2 ? most : 200) + 1));
    const auto* bytes = reinterpret_cast<const char*>(buffer.at(offset, length));
    ASSERT_TRUE(std::equal(bytes, bytes + length, whole.data() + offset))
        << offset << " " << length;
    ASSERT_EQ(sum_of(buffer, offset, length), reference_sum(whole, offset, length))
        << offset << " " << length;
  }
}

INSTANTIATE_TEST_SUITE_P(Shapes, BufferSpans,
                         testing::Values(Shape{1, 1, 0}, Shape{63, 63, 0}, Shape{64, 64, 0},
                                         Shape{65, 65, 0}, Shape{32000, 32000, 0},
                                         Shape{0, 1000, 0}, Shape{100, 50, 0}, Shape{3, 500000, 0},
                                         Shape{3, 500000, 1}, Shape{0, 500000, 7},
                                         Shape{777, 500000, 999}, Shape{70001, 500000, 90001}));

TEST(Buffer, FirstAndLastLongestSpans) {
  const Buffer buffer("start", 300000, "abc");
  const std::string whole = materialised("start", 300000, "abc");
  // Each place in the period once, far behind what is kept.
  for (const uint32_t offset :
       {0u, 1u, 5u, 6u, 200000u, 200001u, 200002u, 300000u - Buffer::kMaxSpan}) {
    const auto* bytes = reinterpret_cast<const char*>(buffer.at(offset, Buffer::kMaxSpan));
    EXPECT_TRUE(std::equal(bytes, bytes + Buffer::kMaxSpan, whole.data() + offset)) << offset;
  }
}

TEST(Buffer, LargestSizeTakesLittleMemory) {
  const Buffer buffer("x", Buffer::kMaxSize, "");
  EXPECT_EQ(buffer.size(), 0x7fffffffu);
  EXPECT_LT(buffer.memory(), 100'000u);
  // Byte i of the counting part is (i - 1) mod 256.
  EXPECT_EQ(*buffer.at(Buffer::kMaxSize - 1, 1), (Buffer::kMaxSize - 2) % 256);
  EXPECT_EQ(*buffer.at(0, 1), 'x');
}

TEST(Buffer, ZeroesSumToZero) {
  const Buffer buffer(std::string(5000, '\0'), 5000, "");
  EXPECT_EQ(sum_of(buffer, 3, 4000), 0);
}

TEST(Buffer, Empty) {
  const Buffer buffer("", 0, "");
  EXPECT_EQ(buffer.size(), 0u);
  EXPECT_EQ(buffer.sum(0, 0), 0u);
}

}  // namespace
}  // namespace engine
