#include "impairment/impairment.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <vector>

#include "net/checksum.h"
#include "net/ethernet.h"
#include "net/rx_segment.h"

namespace engine {
namespace {

constexpr size_t kFrames = 20'000;

/// An IPv4 header with `tos` behind an Ethernet header, and some bytes more.
std::vector<uint8_t> packet(uint8_t tos, bool ipv4 = true) {
  std::vector<uint8_t> bytes(80);
  store_be(bytes.data() + 12, ipv4 ? kEtherTypeIpv4 : kEtherTypeIpv6);
  if (!ipv4) {
    bytes[14] = static_cast<uint8_t>(0x60 | tos >> 4);
    bytes[15] = static_cast<uint8_t>(tos << 4);
    return bytes;
  }
  bytes[14] = 0x45;
  bytes[15] = tos;
  store_be<uint16_t>(bytes.data() + 24, checksum_finish(checksum_add(0, bytes.data() + 14, 20)));
  return bytes;
}

Frame whole_frame(std::vector<uint8_t>& bytes) {
  Frame frame;
  frame.head = bytes.data();
  frame.head_length = static_cast<uint16_t>(bytes.size());
  frame.checksums = Checksums::trusted;
  return frame;
}

/// Whether each of `frames` frames, one every microsecond, passes at once.
std::vector<bool> passed(Impairment& impairment, size_t frames) {
  std::vector<uint8_t> bytes = packet(0);
  std::vector<bool> all;
  for (size_t i = 0; i < frames; ++i)
    all.push_back(impairment.pass(whole_frame(bytes), static_cast<Nanoseconds>(i) * kMicrosecond));
  return all;
}

size_t arrivals(Impairment& impairment, Nanoseconds now) {
  size_t count = 0;
  while (impairment.line().take(now) != nullptr) ++count;
  impairment.line().release();
  return count;
}

TEST(Impairment, WithoutSettingsEverythingPassesAtOnce) {
  Impairment impairment;
  EXPECT_TRUE(impairment.idle());
  EXPECT_EQ(passed(impairment, 100), std::vector<bool>(100, true));
  EXPECT_TRUE(impairment.line().empty());
  EXPECT_EQ(impairment.counts().frames, 100u);
}

TEST(Impairment, LosesTheShareAskedForAndTheSameFramesWithTheSameSeed) {
  Impairment impairment({.loss = 0.1});
  const std::vector<bool> first = passed(impairment, kFrames);
  // Five standard deviations of a binomial distribution: 5 * sqrt(20,000 * 0.1 * 0.9).
  EXPECT_NEAR(static_cast<double>(impairment.counts().lost), 2000, 212);
  EXPECT_EQ(static_cast<size_t>(std::ranges::count(first, false)), impairment.counts().lost);
  EXPECT_TRUE(impairment.line().empty());
  impairment.set({.loss = 0.1});
  EXPECT_EQ(passed(impairment, kFrames), first);
  impairment.set({.loss = 0.1, .seed = 2});
  EXPECT_NE(passed(impairment, kFrames), first);
}

TEST(Impairment, DelaysAllFramesAndJittersThemWithinItsBounds) {
  Impairment impairment({.delay = kMillisecond, .jitter = kMillisecond});
  std::vector<uint8_t> bytes = packet(0);
  for (size_t i = 0; i < 1000; ++i) EXPECT_FALSE(impairment.pass(whole_frame(bytes), 0));
  EXPECT_EQ(impairment.counts().delayed, 1000u);
  EXPECT_EQ(arrivals(impairment, kMillisecond - 1), 0u);
  const size_t half = arrivals(impairment, 3 * kMillisecond / 2);
  EXPECT_NEAR(static_cast<double>(half), 500, 80);
  EXPECT_EQ(half + arrivals(impairment, 2 * kMillisecond), 1000u);
}

// 80 bytes take 64 us at 10 Mbit/s, and one comes each microsecond for 20 ms: 312 pass meanwhile,
// and 100 ms of them wait behind.
TEST(Impairment, CarriesTheRateAndKeepsNoMoreThanItsQueue) {
  Impairment impairment({.rate = 10e6});
  passed(impairment, kFrames);
  EXPECT_EQ(arrivals(impairment, 20 * kMillisecond), 312u);
  const size_t kept = kFrames - impairment.counts().queue_full;
  EXPECT_NEAR(static_cast<double>(kept), 120e3 / 64, 2);
  EXPECT_EQ(arrivals(impairment, 121 * kMillisecond), kept - 312);
}

TEST(Impairment, ARateThatIsNotReachedDelaysEachFrameByItself) {
  Impairment impairment({.delay = kMillisecond, .rate = 1e9});
  passed(impairment, 100);  // 80 bytes take 640 ns
  EXPECT_EQ(arrivals(impairment, kMillisecond + 10 * kMicrosecond), 10u);
  EXPECT_EQ(impairment.counts().queue_full, 0u);
}

TEST(Impairment, ReorderedFramesComeLaterThanThoseBehindThem) {
  Impairment impairment({.reordering = 0.1, .held = 10 * kMicrosecond});
  std::vector<uint8_t> bytes = packet(0);
  size_t at_once = 0;
  size_t held = 0;
  for (size_t i = 0; i < kFrames; ++i) {
    const auto now = static_cast<Nanoseconds>(i) * kMicrosecond;
    held += arrivals(impairment, now);
    at_once += impairment.pass(whole_frame(bytes), now) ? 1 : 0;
  }
  held += arrivals(impairment, kSecond);
  EXPECT_NEAR(static_cast<double>(held), 2000, 212);
  EXPECT_EQ(held, impairment.counts().reordered);
  EXPECT_EQ(at_once + held, kFrames);
}

TEST(Impairment, DuplicatesArriveBehindTheirOriginal) {
  Impairment impairment({.duplication = 1, .delay = 5});
  std::vector<uint8_t> bytes = packet(0);
  for (uint8_t mark : {1, 2}) {
    bytes[79] = mark;
    EXPECT_FALSE(impairment.pass(whole_frame(bytes), 0));
  }
  std::vector<int> marks;
  while (const Frame* frame = impairment.line().take(5)) marks.push_back(frame->head[79]);
  EXPECT_EQ(marks, (std::vector<int>{1, 1, 2, 2}));
  EXPECT_EQ(impairment.counts().duplicated, 2u);
}

TEST(Impairment, AFrameDoesNotOvertakeOneThatIsAboutToGo) {
  Impairment impairment({.delay = 5});
  std::vector<uint8_t> bytes = packet(0);
  EXPECT_FALSE(impairment.pass(whole_frame(bytes), 0));
  impairment.set({});
  EXPECT_FALSE(impairment.idle());
  EXPECT_TRUE(impairment.pass(whole_frame(bytes), 4));
  EXPECT_FALSE(impairment.pass(whole_frame(bytes), 5));
  EXPECT_EQ(arrivals(impairment, 5), 2u);
  EXPECT_TRUE(impairment.idle());
}

TEST(Impairment, MarksEcnCapablePacketsOnlyAndKeepsTheHeaderWhole) {
  Impairment impairment({.congestion = 1});
  for (const bool ipv4 : {true, false})
    for (const uint8_t code_point : {0, 1, 2, 3}) {
      std::vector<uint8_t> bytes = packet(0x50 | code_point, ipv4);
      EXPECT_FALSE(impairment.pass(whole_frame(bytes), 0));
      const Frame* frame = impairment.line().take(0);
      ASSERT_NE(frame, nullptr);
      const std::vector<uint8_t> wanted = packet(0x50 | (code_point == 0 ? 0 : 3), ipv4);
      EXPECT_EQ(std::vector<uint8_t>(frame->head, frame->head + frame->head_length), wanted);
    }
  EXPECT_EQ(impairment.counts().marked, 6u);
}

TEST(Impairment, CorruptsOneBitBehindTheEthernetHeaderAndVouchesForItNoMore) {
  Impairment impairment({.corruption = 1});
  std::vector<uint8_t> bytes = packet(0);
  for (int i = 0; i < 1000; ++i) {
    EXPECT_FALSE(impairment.pass(whole_frame(bytes), i));
    const Frame* frame = impairment.line().take(i);
    ASSERT_NE(frame, nullptr);
    EXPECT_EQ(frame->checksums, Checksums::in_frame);
    int bits = 0;
    for (size_t at = 0; at < bytes.size(); ++at) {
      const int changed = std::popcount(static_cast<unsigned>(frame->head[at] ^ bytes[at]));
      if (at < kEthernetLength) {
        EXPECT_EQ(changed, 0);
      }
      bits += changed;
    }
    EXPECT_EQ(bits, 1);
  }
  EXPECT_EQ(impairment.counts().corrupted, 1000u);
}

/// A TCP segment of 60 bytes behind `ipv4` or IPv6, ECN-capable, its checksums as a sender leaves
/// them to its device: of IPv4 none, of TCP the pseudo-header's.
std::vector<uint8_t> uncompleted(bool ipv4) {
  constexpr uint8_t kEct = 2;
  std::vector<uint8_t> bytes = packet(kEct, ipv4);
  bytes.resize(kEthernetLength + (ipv4 ? 20 : 40) + 60, 0x5a);
  uint8_t* const ip = bytes.data() + kEthernetLength;
  uint8_t* const tcp = ip + (ipv4 ? 20 : 40);
  ip[ipv4 ? 9 : 6] = 6;
  store_be<uint16_t>(ip + (ipv4 ? 2 : 4), ipv4 ? 80 : 60);
  store_be<uint16_t>(ip + 10, 0);
  tcp[12] = 0x50;
  const IpAddress address = ipv4 ? IpAddress::v4(0) : IpAddress{};
  store_be<uint16_t>(tcp + 16, checksum_fold(pseudo_header_sum(address, address, 6, 60)));
  return bytes;
}

TEST(Impairment, DamageIsFoundWhoeverWasToCompleteTheChecksums) {
  Impairment impairment({.congestion = 1, .corruption = 1});
  for (const bool ipv4 : {true, false})
    for (const Checksums checksums : {Checksums::partial, Checksums::trusted}) {
      std::vector<uint8_t> bytes = uncompleted(ipv4);
      Frame frame = whole_frame(bytes);
      frame.checksums = checksums;
      for (int i = 0; i < 5000; ++i) {
        EXPECT_FALSE(impairment.pass(frame, i));
        const Frame* damaged = impairment.line().take(i);
        ASSERT_NE(damaged, nullptr);
        EXPECT_EQ(damaged->checksums, Checksums::in_frame);
        const RxSegment packet = parse(*damaged);
        const PacketKind kind = packet.kind;
        if (kind != PacketKind::tcp) continue;
        // Of IPv6's header no sum covers traffic class, flow label and hop limit.
        EXPECT_FALSE(ipv4);
        ASSERT_EQ(packet.payload_length, 40u);
        EXPECT_TRUE(std::ranges::equal(packet.payload(), std::span(bytes).last(40)));
      }
    }
}

TEST(Impairment, AFrameThatThePortCutIsDamagedInWhatThereIs) {
  std::vector<uint8_t> bytes = packet(0);
  Frame cut = whole_frame(bytes);
  cut.payload_length = 60'000;  // on the wire; the port has them no more
  Impairment impairment({.corruption = 1});
  for (int i = 0; i < 200; ++i) {
    EXPECT_FALSE(impairment.pass(cut, i));
    const Frame* damaged = impairment.line().take(i);
    ASSERT_NE(damaged, nullptr);
    EXPECT_FALSE(std::ranges::equal(std::span(damaged->head, bytes.size()), bytes)) << i;
    EXPECT_EQ(damaged->checksums, Checksums::in_frame) << "nobody vouches for it";
  }
  EXPECT_EQ(impairment.counts().corrupted, 200u);
}

TEST(Impairment, AMarkDoesNotHideDamage) {
  std::vector<uint8_t> bytes = packet(1);
  bytes[22] ^= 0x10;  // the time to live: in no other sum
  Impairment impairment({.congestion = 1});
  EXPECT_FALSE(impairment.pass(whole_frame(bytes), 0));
  const Frame* marked = impairment.line().take(0);
  ASSERT_NE(marked, nullptr);
  EXPECT_EQ(marked->head[15], 3);
  EXPECT_NE(checksum_fold(checksum_add(0, marked->head + 14, 20)), 0xffff);
}

TEST(Impairment, WhatAFullLineCannotHoldIsCounted) {
  Impairment impairment({.delay = kSecond});
  std::vector<uint8_t> bytes(60'000);
  for (int i = 0; i < 1000; ++i) EXPECT_FALSE(impairment.pass(whole_frame(bytes), 0));
  const size_t arrived = arrivals(impairment, kSecond);
  EXPECT_GT(impairment.counts().no_room, 0u);
  EXPECT_EQ(arrived + impairment.counts().no_room, 1000u);
}

}  // namespace
}  // namespace engine
