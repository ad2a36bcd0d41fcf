#include "io/frame_exchange.h"

#include <gtest/gtest.h>

#include <cstring>
#include <thread>
#include <vector>

#include "net/path_mtu_message.h"

namespace engine {
namespace {

/// A frame of `length` bytes whose first ones are `number`.
struct Numbered {
  Numbered(uint32_t number, size_t length) : bytes(length) {
    std::memcpy(bytes.data(), &number, sizeof number);
  }
  Frame frame() {
    return {.head = bytes.data(), .head_length = static_cast<uint16_t>(bytes.size())};
  }
  std::vector<uint8_t> bytes;
};

uint32_t number_of(const Frame& frame) {
  uint32_t number;
  std::memcpy(&number, frame.head, sizeof number);
  return number;
}

TEST(ExchangeRing, GivesFramesOfAnyLengthInOrder) {
  ExchangeRing ring;
  uint32_t given = 0, taken = 0;
  const auto length_of = [](uint32_t number) { return 60 + number * 7919 % 65000; };
  while (taken < 5000) {
    for (int i = 0; i < 5; ++i, ++given)
      if (!ring.push(Numbered(given, length_of(given)).frame())) break;
    for (const Frame& frame : ring.front()) {
      ASSERT_EQ(number_of(frame), taken);
      ASSERT_EQ(frame.head_length, length_of(taken));
      ++taken;
    }
    ring.release();
  }
}

TEST(ExchangeRing, RefusesWhenFullAndGoesOnWhenThereIsRoom) {
  ExchangeRing ring;
  uint32_t given = 0;
  while (ring.push(Numbered(given, 1000).frame())) ++given;
  EXPECT_GT(given, ExchangeRing::kBytes / 1200);
  EXPECT_LE(given, ExchangeRing::kBytes / 1000);
  EXPECT_EQ(ring.front().size(), TransmitQueue::kBurst);
  EXPECT_FALSE(ring.push(Numbered(given, 1000).frame())) << "not released yet";
  ring.release();
  EXPECT_TRUE(ring.push(Numbered(given, 1000).frame()));
  EXPECT_EQ(number_of(ring.front().front()), TransmitQueue::kBurst);
}

TEST(ExchangeRing, KeepsPayloadThatLiesElsewhereAndTheLengthOfWhatWasCut) {
  ExchangeRing ring;
  Numbered head(7, 60), payload(9, 3000);
  Frame frame = head.frame();
  frame.payload_length = 3000;
  ASSERT_TRUE(ring.push(frame));
  frame.payload = payload.bytes.data();
  frame.checksums = Checksums::trusted;
  ASSERT_TRUE(ring.push(frame));
  payload.bytes.assign(3000, 0);
  const std::span<const Frame> frames = ring.front();
  ASSERT_EQ(frames.size(), 2u);
  EXPECT_EQ(frames[0].payload, nullptr);
  EXPECT_EQ(frames[0].payload_length, 3000u);
  EXPECT_EQ(frames[1].checksums, Checksums::trusted);
  uint32_t number;
  std::memcpy(&number, frames[1].payload, sizeof number);
  EXPECT_EQ(number, 9u);
}

TEST(ExchangeRing, TwoThreadsLoseNothing) {
  ExchangeRing ring;
  constexpr uint32_t kFrames = 200'000;
  std::thread giver([&ring] {
    for (uint32_t number = 0; number < kFrames; ++number)
      while (!ring.push(Numbered(number, 60 + number % 1500).frame())) std::this_thread::yield();
  });
  uint32_t taken = 0;
  bool in_order = true;
  while (taken < kFrames) {
    const std::span<const Frame> frames = ring.front();
    for (const Frame& frame : frames) in_order &= number_of(frame) == taken++;
    ring.release();
    if (frames.empty()) std::this_thread::yield();
  }
  giver.join();
  EXPECT_TRUE(in_order);
}

/// A message about a path's MTU comes from a router, and is for the core whose flow it quotes.
TEST(FrameExchange, GivesAMessageAboutAPacketToTheCoreThatSentIt) {
  constexpr uint32_t kCores = 4;
  for (uint16_t port = 1024; port < 1124; ++port) {
    std::vector<uint8_t> packet(kEthernetLength + 1500);
    uint8_t* at = packet.data() + write_ethernet(packet.data(), {}, kEtherTypeIpv4);
    const auto ours = IpAddress::v4(0x30000001), theirs = IpAddress::v4(0x10000005);
    at = compose_ip(at, ours, theirs, kProtocolTcp, 1480, 0, 64, true);
    store_be<uint16_t>(at, 80);
    store_be<uint16_t>(at + 2, port);
    std::vector<uint8_t> message = too_long_message(packet);
    Frame frame;
    frame.head = message.data();
    frame.head_length = static_cast<uint16_t>(message.size());

    const auto rings = std::make_shared<ExchangeRings>(kCores);
    FrameExchange first(rings, 0, Steering(0, kCores));
    const uint32_t owner = Steering(0, kCores).core_of(
        static_cast<uint16_t>(Steering::fold(ours, theirs) ^ 80 ^ port));
    EXPECT_EQ(first.sort(Side::server, {&frame, 1}).size(), owner == 0 ? 1u : 0u);
    for (uint32_t core = 1; core < kCores; ++core)
      EXPECT_EQ(rings->between(Side::server, 0, core).front().size(), owner == core ? 1u : 0u);
  }
}

}  // namespace
}  // namespace engine
