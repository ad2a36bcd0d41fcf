#include "stats/histogram.h"

#include <gtest/gtest.h>

#include "net/address.h"

namespace engine {
namespace {

TEST(Histogram, ABucketIsNeverWiderThanOnePartIn128OfItsValues) {
  for (uint64_t low = 0; low < uint64_t{1} << 31; low = low + low / 7 + 1) {
    const size_t bucket = Histogram::index_of(static_cast<uint32_t>(low));
    EXPECT_NE(bucket, Histogram::index_of(static_cast<uint32_t>(low + low / 64 + 1))) << low;
    EXPECT_LE(Histogram::index_of(static_cast<uint32_t>(low + low / 256)), bucket + 1) << low;
  }
}

TEST(Histogram, CountSumAndHighestAreExactAndAdd) {
  Histogram one, other;
  one.record(3);
  one.record(1'000'003);
  other.record(UINT32_MAX);
  one += other;
  EXPECT_EQ(one.count(), 3u);
  EXPECT_EQ(one.sum(), 3 + 1'000'003 + uint64_t{UINT32_MAX});
  EXPECT_EQ(one.highest(), UINT32_MAX);
}

/// Bytes behind the header.
std::string counts_of(const Histogram& histogram) {
  const std::string bytes = histogram.encoded();
  EXPECT_EQ(load_be<uint32_t>(bytes.data()), 0x1c849313u);
  EXPECT_EQ(load_be<uint32_t>(bytes.data() + 4), bytes.size() - 40);
  EXPECT_EQ(load_be<uint32_t>(bytes.data() + 12), 2u);
  return bytes.substr(40);
}

TEST(Histogram, EncodesCountsAndRunsOfEmptyBucketsAsTheV2FormatSays) {
  Histogram histogram;
  EXPECT_EQ(counts_of(histogram), "");
  histogram.record(0);
  EXPECT_EQ(counts_of(histogram), "\x02");
  histogram.record(2);  // one empty bucket between: a count of 0
  EXPECT_EQ(counts_of(histogram), std::string("\x02\x00\x02", 3));
  for (int i = 0; i < 200; ++i) histogram.record(5);  // two empty ones: -2; 200 takes two bytes
  EXPECT_EQ(counts_of(histogram), std::string("\x02\x00\x02\x03\x90\x03", 6));
}

}  // namespace
}  // namespace engine
