#include "net/checksum.h"

#include <gtest/gtest.h>

#include <numeric>
#include <random>
#include <vector>

namespace engine {
namespace {

/// RFC 1071 section 4.1, word by word.
uint16_t reference_fold(const std::vector<uint8_t>& bytes) {
  uint64_t sum = 0;
  for (size_t i = 0; i < bytes.size(); ++i)
    sum += i % 2 == 0 ? uint64_t{bytes[i]} << 8 : uint64_t{bytes[i]};
  while (sum >> 16) sum = (sum & 0xffff) + (sum >> 16);
  return static_cast<uint16_t>(sum);
}

uint16_t fold(const std::vector<uint8_t>& bytes) {
  return checksum_fold(checksum_add(0, bytes.data(), bytes.size()));
}

TEST(Checksum, ExampleOfRfc1071) {
  EXPECT_EQ(fold({0x00, 0x01, 0xf2, 0x03, 0xf4, 0xf5, 0xf6, 0xf7}), 0xddf2);
  EXPECT_EQ(checksum_finish(0x2ddf0), static_cast<uint16_t>(~0xddf2));
}

TEST(Checksum, NothingIsZero) {
  EXPECT_EQ(fold({}), 0);
  EXPECT_EQ(fold(std::vector<uint8_t>(1000, 0)), 0);
}

TEST(Checksum, OddLastByteIsTheHighOne) {
  EXPECT_EQ(fold({0x12}), 0x1200);
  EXPECT_EQ(fold({0x12, 0x34, 0x56}), 0x1234 + 0x5600);
}

TEST(Checksum, AllLengthsAndAlignmentsAgreeWithTheReference) {
  std::mt19937 random(1);
  std::vector<uint8_t> bytes(1700);
  for (uint8_t& byte : bytes) byte = static_cast<uint8_t>(random());
  for (size_t from = 0; from < 9; ++from)
    for (size_t length = 0; length + from <= bytes.size(); length += length < 700 ? 1 : 97) {
      const std::vector<uint8_t> part(bytes.begin() + static_cast<long>(from),
                                      bytes.begin() + static_cast<long>(from + length));
      ASSERT_EQ(checksum_fold(checksum_add(0, bytes.data() + from, length)), reference_fold(part))
          << from << "+" << length;
    }
}

TEST(Checksum, AllOnesCarryEverywhere) {
  for (size_t length = 2; length < 1600; length += 2)
    ASSERT_EQ(fold(std::vector<uint8_t>(length, 0xff)), 0xffff) << length;
}

TEST(Checksum, LongInputsDoNotOverflow) {
  const std::vector<uint8_t> bytes(16 << 20, 0xff);
  EXPECT_EQ(fold(bytes), 0xffff);
}

TEST(Checksum, PartsAddUp) {
  std::vector<uint8_t> bytes(999);
  std::iota(bytes.begin(), bytes.end(), uint8_t{3});
  const ChecksumSum head = checksum_add(0, bytes.data(), 500);
  EXPECT_EQ(checksum_fold(checksum_add(head, bytes.data() + 500, 499)), reference_fold(bytes));
  // A running sum that is about to overflow comes round.
  const ChecksumSum full = UINT64_MAX;
  EXPECT_EQ(checksum_fold(checksum_add(full, bytes.data(), 999)), reference_fold(bytes));
}

TEST(Checksum, FoldsAnySum) {
  EXPECT_EQ(checksum_fold(UINT64_MAX), 0xffff);
  EXPECT_EQ(checksum_fold(0x1'0000'0000'0000), 1);
  EXPECT_EQ(checksum_fold(0xffff'ffff'0000'0001), 1);
}

TEST(Checksum, PseudoHeaders) {
  // RFC 9293 section 3.1: source, destination, zero and protocol, TCP length.
  const std::vector<uint8_t> v4 = {16, 0, 0, 1, 48, 0, 0, 1, 0, 6, 0x05, 0xb4};
  EXPECT_EQ(checksum_fold(
                pseudo_header_sum(IpAddress::v4(0x10000001), IpAddress::v4(0x30000001), 6, 0x5b4)),
            reference_fold(v4));
  // RFC 8200 section 8.1: source, destination, length in 32 bits, zero, next header.
  std::vector<uint8_t> v6(32);
  std::iota(v6.begin(), v6.end(), uint8_t{0x20});
  const IpAddress source = IpAddress::v6(v6.data());
  const IpAddress destination = IpAddress::v6(v6.data() + 16);
  v6.insert(v6.end(), {0, 1, 0xff, 0x10, 0, 0, 0, 17});
  EXPECT_EQ(checksum_fold(pseudo_header_sum(source, destination, 17, 0x1ff10)), reference_fold(v6));
}

}  // namespace
}  // namespace engine
