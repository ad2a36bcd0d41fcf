#include "io/wire.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "net/checksum.h"
#include "net/compose.h"
#include "net/ethernet.h"
#include "net/ip.h"
#include "net/responder.h"

namespace engine {
namespace {

class Wire : public testing::Test {
 protected:
  void send(PortQueue& from, uint32_t mark, const uint8_t* payload = nullptr, uint32_t length = 0) {
    Frame* frame = from.transmit().next();
    ASSERT_NE(frame, nullptr);
    std::memcpy(frame->head, &mark, sizeof mark);
    frame->head_length = sizeof mark;
    frame->payload = payload;
    frame->payload_length = length;
    frame->checksums = Checksums::partial;
    from.transmit().commit();
  }

  static uint32_t mark_of(const Frame& frame) {
    uint32_t mark = 0;
    std::memcpy(&mark, frame.head, sizeof mark);
    return mark;
  }

  std::array<std::unique_ptr<Port>, kSides> ports = make_wire(0, 2);
  PortQueue& left = ports[0]->queue(0);
  PortQueue& right = ports[1]->queue(0);
};

TEST_F(Wire, CarriesFramesInOrderBothWaysWithPayloadByReference) {
  const std::vector<uint8_t> payload(32000, 7);
  send(left, 1, payload.data(), 32000);
  send(left, 2);
  send(right, 3);
  EXPECT_TRUE(right.receive().empty());
  left.transmit().flush();
  right.transmit().flush();

  const std::span<const Frame> frames = right.receive();
  ASSERT_EQ(frames.size(), 2u);
  EXPECT_EQ(mark_of(frames[0]), 1u);
  EXPECT_EQ(frames[0].payload, payload.data());
  EXPECT_EQ(frames[0].payload_length, 32000u);
  EXPECT_EQ(frames[0].checksums, Checksums::trusted);
  EXPECT_EQ(mark_of(frames[1]), 2u);
  right.release();
  EXPECT_TRUE(right.receive().empty());
  right.release();
  ASSERT_EQ(left.receive().size(), 1u);
  left.release();
  EXPECT_EQ(left.counters().opackets, 2u);
  EXPECT_EQ(left.counters().obytes, 32008u);
  EXPECT_EQ(right.counters().ipackets, 2u);
  EXPECT_EQ(right.counters().ibytes, 32008u);
}

TEST_F(Wire, APortTakesItsOwnFramesAndGroupsAndAllWhenPromiscuous) {
  const auto receives = [&](const MacAddress& destination) {
    Frame* frame = left.transmit().next();
    std::copy_n(destination.data(), 6, frame->head);
    frame->head_length = 60;
    left.transmit().commit();
    left.transmit().flush();
    const size_t received = right.receive().size();
    right.release();
    return received == 1;
  };
  const MacAddress own{2, 0, 0, 0, 0, 1};
  const MacAddress other{2, 0, 0, 0, 0, 7};
  right.set_filter(own, false);
  EXPECT_TRUE(receives(own));
  EXPECT_TRUE(receives({0xff, 0xff, 0xff, 0xff, 0xff, 0xff}));
  EXPECT_TRUE(receives({1, 0, 0x5e, 0, 0, 1}));
  EXPECT_FALSE(receives(other));
  EXPECT_EQ(right.drops()[Drop::not_ours], 1u);
  EXPECT_EQ(right.counters().ipackets, 4u);
  EXPECT_EQ(left.counters().opackets, 4u);
  EXPECT_EQ(left.payload_released(), 4u);
  right.set_filter(own, true);
  EXPECT_TRUE(receives(other));
  EXPECT_EQ(right.drops()[Drop::not_ours], 1u);
}

TEST_F(Wire, CoresDoNotHearEachOther) {
  send(left, 1);
  left.transmit().flush();
  EXPECT_TRUE(ports[1]->queue(1).receive().empty());
  EXPECT_EQ(right.receive().size(), 1u);
}

TEST_F(Wire, AnsweringWhileReadingLeavesWhatIsReadAlone) {
  for (uint32_t i = 0; i < TransmitQueue::kBurst; ++i) send(left, i);
  left.transmit().flush();
  uint32_t expected = 0;
  for (const Frame& frame : right.receive()) {
    send(right, 1000 + mark_of(frame));
    send(right, 2000 + mark_of(frame));  // more than a burst: the queue flushes meanwhile
    EXPECT_EQ(mark_of(frame), expected++);
  }
  right.release();
  right.transmit().flush();
  expected = 0;
  for (int burst = 0; burst < 2; ++burst) {
    for (const Frame& frame : left.receive()) {
      EXPECT_EQ(mark_of(frame), (expected % 2 == 0 ? 1000u : 2000u) + expected / 2);
      ++expected;
    }
    left.release();
  }
  EXPECT_EQ(expected, 2 * TransmitQueue::kBurst);
}

TEST_F(Wire, AFullWireCountsWhatItDropsAndKeepsTheRest) {
  const uint32_t extra = 100;
  for (uint32_t i = 0; i < WireRing::kSlots + extra; ++i) send(left, i);
  left.transmit().flush();
  EXPECT_EQ(left.counters().opackets, WireRing::kSlots);
  EXPECT_EQ(left.counters().oerrors, extra);
  EXPECT_EQ(left.drops()[Drop::ring_full], extra);
  EXPECT_EQ(left.payload_released(), 0u);
  uint32_t expected = 0;
  while (true) {
    const std::span<const Frame> frames = right.receive();
    for (const Frame& frame : frames) ASSERT_EQ(mark_of(frame), expected++);
    right.release();
    if (frames.empty()) break;
  }
  EXPECT_EQ(expected, WireRing::kSlots);
  EXPECT_EQ(left.payload_released(), left.counters().opackets);
}

TEST_F(Wire, OrderAndContentHoldOverManyTurnsOfTheRing) {
  uint32_t sent = 0;
  uint32_t seen = 0;
  while (seen < 5 * WireRing::kSlots) {
    // More comes in than goes out until the ring is nearly full, then it empties: all positions.
    const uint32_t backlog = sent - seen;
    const uint32_t burst = backlog < WireRing::kSlots - 200 ? 100 : 0;
    for (uint32_t i = 0; i < burst; ++i) send(left, sent++);
    left.transmit().flush();
    for (const Frame& frame : right.receive()) ASSERT_EQ(mark_of(frame), seen++);
    right.release();
  }
  EXPECT_EQ(left.counters().oerrors, 0u);
}

TEST_F(Wire, AnIdleWireUsesTheSameSlotsAgain) {
  send(left, 1);
  left.transmit().flush();
  const Frame* slot = right.receive().data();
  right.release();
  for (uint32_t i = 0; i < 1000; ++i) {
    send(left, i);
    left.transmit().flush();
    ASSERT_EQ(right.receive().data(), slot);
    right.release();
  }
}

constexpr uint32_t kPinger = 0xc6120001, kPinged = 0xc6120002;

/// An echo request (RFC 792) with `length` bytes of data, all of them `mark`.
std::vector<uint8_t> echo_request(size_t length, uint8_t mark) {
  std::vector<uint8_t> bytes(14 + 20 + 8 + length, mark);
  const auto in_ip = static_cast<uint32_t>(8 + length);
  uint8_t* const ip =
      bytes.data() + write_ethernet(bytes.data(), {local_mac(1), local_mac(0)}, kEtherTypeIpv4);
  uint8_t* const icmp = compose_ip(ip, IpAddress::v4(kPinger), IpAddress::v4(kPinged),
                                   kProtocolIcmp, in_ip, 0, 64, true);
  std::fill_n(icmp, 8, 0);
  icmp[0] = kIcmpEchoRequest;
  store_be(icmp + 2, checksum_finish(checksum_add(0, icmp, in_ip)));
  return bytes;
}

TEST_F(Wire, CarriesTheAnswersToAllPingsOfABurst) {
  L2HeaderTable l2_headers(L2Header{local_mac(0), local_mac(1)});
  PortAddress address;
  address.mac = local_mac(1);
  address.ipv4 = kPinged;
  PortResponder responder(address, std::make_shared<LearnedGateway>(), l2_headers,
                          right.transmit());
  for (const size_t length : {40, 1400, 8000}) {
    for (uint8_t mark = 1; mark <= 40; ++mark) {
      std::vector<uint8_t> bytes = echo_request(length, mark);
      Frame request;
      request.head = bytes.data();
      request.head_length = static_cast<uint16_t>(bytes.size());
      EXPECT_TRUE(responder.receive(parse(request), 0));
    }
    right.transmit().flush();
    uint8_t mark = 0;
    for (const Frame& answer : left.receive()) {
      ++mark;
      std::vector<uint8_t> bytes(answer.head, answer.head + answer.head_length);
      bytes.insert(bytes.end(), answer.payload, answer.payload + answer.payload_length);
      ASSERT_EQ(bytes.size(), 14 + 20 + 8 + length);
      EXPECT_EQ(std::vector<uint8_t>(bytes.begin() + 42, bytes.end()),
                std::vector<uint8_t>(length, mark));
      EXPECT_EQ(checksum_fold(checksum_add(0, &bytes[34], 8 + length)), 0xffff);
    }
    left.release();
    EXPECT_EQ(mark, 40);
  }
}

TEST(DummyPort, TakesAllAndDeliversNothing) {
  const std::unique_ptr<Port> port = make_dummy_port(3, 1);
  PortQueue& queue = port->queue(0);
  for (int i = 0; i < 1000; ++i) {
    Frame* frame = queue.transmit().next();
    ASSERT_NE(frame, nullptr);
    frame->head_length = 60;
    queue.transmit().commit();
  }
  queue.transmit().flush();
  EXPECT_EQ(queue.counters().opackets, 1000u);
  EXPECT_EQ(queue.counters().obytes, 60'000u);
  EXPECT_TRUE(queue.receive().empty());
  EXPECT_TRUE(port->info().is_dummy);
  EXPECT_EQ(port->mac(), (MacAddress{2, 0, 0, 0, 0, 3}));
}

}  // namespace
}  // namespace engine
