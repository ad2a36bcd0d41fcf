#include "net/responder.h"

#include <gtest/gtest.h>

#include <memory>
#include <utility>
#include <vector>

#include "net/checksum.h"
#include "net/ethernet.h"
#include "net/recording_device.h"

namespace engine {
namespace {

using Bytes = std::vector<uint8_t>;

constexpr MacAddress kOurs{2, 0, 0, 0, 0, 1};
constexpr MacAddress kPeer{2, 0, 0, 0, 0, 9};
constexpr MacAddress kAll{0xff, 0xff, 0xff, 0xff, 0xff, 0xff};
constexpr uint32_t kOurAddress = 0xc6120001;  // 198.18.0.1
constexpr uint32_t kGateway = 0xc6120002;

class Responder : public testing::Test {
 protected:
  PortAddress address(VlanTags tags = {}) {
    PortAddress address;
    address.mac = kOurs;
    address.ipv4 = kOurAddress;
    address.gateway = kGateway;
    address.tags = tags;
    return address;
  }

  void start(const PortAddress& address) {
    responder = std::make_unique<PortResponder>(address, learned, l2_headers, queue);
  }

  void receive(Bytes bytes, Nanoseconds now = 0) {
    Frame frame;
    frame.head = bytes.data();
    frame.head_length = static_cast<uint16_t>(bytes.size());
    responder->receive(parse(frame), now);
    queue.flush();
  }

  std::vector<Bytes> advance(Nanoseconds now) {
    responder->advance(now);
    return take();
  }

  std::vector<Bytes> take() {
    queue.flush();
    return std::exchange(device.sent, {});
  }

  static Bytes arp(uint16_t operation, uint32_t sender, uint32_t target, VlanTags tags = {}) {
    Bytes bytes(22 + 28);
    const size_t offset = write_ethernet(bytes.data(), {kAll, kPeer, tags}, kEtherTypeArp);
    uint8_t* out = bytes.data() + offset;
    store_be<uint64_t>(out, 0x0001'0800'0604'0000 | operation);
    std::copy(kPeer.begin(), kPeer.end(), out + 8);
    store_be(out + 14, sender);
    store_be(out + 24, target);
    bytes.resize(offset + 28);
    return bytes;
  }

  static Bytes echo(size_t data, uint32_t target = kOurAddress) {
    Bytes bytes(14 + 20 + 8 + data);
    write_ethernet(bytes.data(), {kOurs, kPeer}, kEtherTypeIpv4);
    uint8_t* ip = bytes.data() + 14;
    ip[0] = 0x45;
    store_be(ip + 2, static_cast<uint16_t>(28 + data));
    ip[8] = 64;
    ip[9] = 1;
    store_be(ip + 12, kGateway);
    store_be(ip + 16, target);
    store_be(ip + 10, checksum_finish(checksum_add(0, ip, 20)));
    ip[20] = 8;
    store_be<uint32_t>(ip + 24, 0x12340007);
    for (size_t i = 0; i < data; ++i) ip[28 + i] = static_cast<uint8_t>(i);
    store_be(ip + 22, checksum_finish(checksum_add(0, ip + 20, 8 + data)));
    return bytes;
  }

  RecordingDevice device;
  TransmitQueue queue{device, {}};
  L2HeaderTable l2_headers{L2Header{}};
  std::shared_ptr<LearnedGateway> learned = std::make_shared<LearnedGateway>();
  std::unique_ptr<PortResponder> responder;
};

TEST_F(Responder, AsksForItsGatewayUntilAnswered) {
  start(address());
  EXPECT_FALSE(responder->resolved());
  for (const Nanoseconds now : {0 * kMillisecond, 250 * kMillisecond, 500 * kMillisecond}) {
    const std::vector<Bytes> sent = advance(now);
    ASSERT_EQ(sent.size(), 1u);
    EXPECT_TRUE(advance(now + 249 * kMillisecond).empty());
    const uint8_t* request = sent[0].data();
    EXPECT_EQ(sent[0].size(), 42u);
    EXPECT_EQ(0, std::memcmp(request, kAll.data(), 6));
    EXPECT_EQ(0, std::memcmp(request + 22, kOurs.data(), 6));
    EXPECT_EQ(load_be<uint16_t>(request + 20), 1);
    EXPECT_EQ(load_be<uint32_t>(request + 28), kOurAddress);
    EXPECT_EQ(load_be<uint32_t>(request + 38), kGateway);
  }
  receive(arp(2, kGateway, kOurAddress), kSecond);
  ASSERT_TRUE(responder->resolved());
  EXPECT_EQ(responder->destination(), kPeer);
  EXPECT_EQ(l2_headers[L2HeaderTable::kPort], (L2Header{kPeer, kOurs}));
  EXPECT_TRUE(advance(100 * kSecond).empty());
  // Then it announces itself every 120 s.
  const std::vector<Bytes> gratuitous = advance(121 * kSecond);
  ASSERT_EQ(gratuitous.size(), 1u);
  EXPECT_EQ(load_be<uint32_t>(gratuitous[0].data() + 38), kOurAddress);
  EXPECT_EQ(responder->next_deadline(), 241 * kSecond);
}

TEST_F(Responder, AnswersArpForItsAddressAlone) {
  start(address());
  receive(arp(1, kGateway, kOurAddress));
  const std::vector<Bytes> sent = take();
  ASSERT_EQ(sent.size(), 1u);
  EXPECT_EQ(0, std::memcmp(sent[0].data(), kPeer.data(), 6));
  EXPECT_EQ(load_be<uint16_t>(sent[0].data() + 20), 2);
  EXPECT_EQ(load_be<uint32_t>(sent[0].data() + 28), kOurAddress);
  EXPECT_EQ(load_be<uint32_t>(sent[0].data() + 38), kGateway);
  receive(arp(1, kGateway, 0x10000001));
  EXPECT_TRUE(take().empty());
}

TEST_F(Responder, FollowsAGatewayThatMoves) {
  start(address());
  receive(arp(2, kGateway, kOurAddress));
  Bytes moved = arp(1, kGateway, kGateway);
  moved[14 + 8 + 5] = 0x77;
  receive(moved);
  EXPECT_EQ((*responder->destination())[5], 0x77);
}

TEST_F(Responder, CoresOfAPortShareWhatOneOfThemHears) {
  L2HeaderTable other_headers{L2Header{}};
  PortResponder other(address(), learned, other_headers, queue);
  start(address());
  receive(arp(2, kGateway, kOurAddress));
  other.follow(kSecond);
  EXPECT_EQ(other.destination(), kPeer);
  EXPECT_EQ(other_headers[L2HeaderTable::kPort], (L2Header{kPeer, kOurs, {}}));
  EXPECT_EQ(other.next_deadline(), 121 * kSecond);  // it asks no more
  EXPECT_FALSE(other.address().destination.has_value());

  Bytes moved = arp(1, kGateway, kGateway);
  moved[14 + 8 + 5] = 0x77;
  Frame frame;
  frame.head = moved.data();
  frame.head_length = static_cast<uint16_t>(moved.size());
  other.receive(parse(frame), kSecond);
  responder->follow(kSecond);
  EXPECT_EQ((*responder->destination())[5], 0x77);
  EXPECT_EQ(l2_headers[L2HeaderTable::kPort].destination[5], 0x77);
}

TEST_F(Responder, CoresOfAPortTurnToAnotherGatewayTogether) {
  L2HeaderTable other_headers{L2Header{}};
  PortResponder other(address(), learned, other_headers, queue);
  start(address());
  receive(arp(2, kGateway, kOurAddress));
  const auto fresh = std::make_shared<LearnedGateway>();
  PortAddress elsewhere = address();
  elsewhere.gateway = kGateway + 1;
  responder->configure(elsewhere, fresh, kSecond);
  EXPECT_FALSE(responder->resolved());
  Bytes answer = arp(2, kGateway + 1, kOurAddress);
  answer[14 + 8 + 5] = 0x55;
  receive(answer, kSecond);
  other.follow(kSecond);  // not configured yet: it keeps to the former one
  EXPECT_EQ(other.destination(), kPeer);
  other.configure(elsewhere, fresh, kSecond);
  EXPECT_EQ((*other.destination())[5], 0x55);
}

TEST_F(Responder, KeepsADestinationGivenByHand) {
  PortAddress fixed = address();
  fixed.destination = MacAddress{2, 1, 1, 1, 1, 1};
  start(fixed);
  EXPECT_TRUE(responder->resolved());
  receive(arp(2, kGateway, kOurAddress));
  EXPECT_EQ(responder->destination(), fixed.destination);
  ASSERT_EQ(advance(0).size(), 1u);  // gratuitous
}

TEST_F(Responder, HearsOnlyItsVlan) {
  start(address(vlan_tags(30)));
  receive(arp(1, kGateway, kOurAddress));
  receive(arp(1, kGateway, kOurAddress, vlan_tags(31)));
  receive(arp(1, kGateway, kOurAddress, {0x88a8'001e, 0}));  // a service provider's 30
  receive(arp(1, kGateway, kOurAddress, vlan_tags(30, 40)));
  EXPECT_TRUE(take().empty());
  // Another priority, the same VLAN.
  receive(arp(1, kGateway, kOurAddress, {0x8100'201e, 0}));
  const std::vector<Bytes> sent = take();
  ASSERT_EQ(sent.size(), 1u);
  EXPECT_EQ(load_be<uint32_t>(sent[0].data() + 12), 0x8100'001eu);
}

TEST_F(Responder, HearsOnlyItsStackedVlans) {
  start(address(vlan_tags(100, 30)));
  receive(arp(1, kGateway, kOurAddress, vlan_tags(100)));
  receive(arp(1, kGateway, kOurAddress, vlan_tags(100, 31)));
  receive(arp(1, kGateway, kOurAddress, {0x8100'0064, 0x8100'001e}));
  EXPECT_TRUE(take().empty());
  receive(arp(1, kGateway, kOurAddress, vlan_tags(100, 30)));
  const std::vector<Bytes> sent = take();
  ASSERT_EQ(sent.size(), 1u);
  EXPECT_EQ(load_be<uint64_t>(sent[0].data() + 12), 0x88a8'0064'8100'001eu);
}

TEST_F(Responder, WithoutAnAddressItIsSilent) {
  PortAddress layer2;
  layer2.mac = kOurs;
  layer2.destination = kPeer;
  start(layer2);
  EXPECT_TRUE(responder->resolved());
  EXPECT_EQ(l2_headers[L2HeaderTable::kPort], (L2Header{kPeer, kOurs, {}}));
  EXPECT_TRUE(advance(1000 * kSecond).empty());
  receive(arp(1, kGateway, 0));
  receive(echo(8, 0));
  EXPECT_TRUE(take().empty());
}

TEST_F(Responder, ConfiguringAnotherGatewayAsksAgain) {
  start(address());
  receive(arp(2, kGateway, kOurAddress));
  responder->configure(address(), std::make_shared<LearnedGateway>(), kSecond);
  EXPECT_TRUE(responder->resolved());
  PortAddress other = address();
  other.gateway = kGateway + 1;
  responder->configure(other, std::make_shared<LearnedGateway>(), kSecond);
  EXPECT_FALSE(responder->resolved());
  const std::vector<Bytes> sent = advance(kSecond);
  ASSERT_EQ(sent.size(), 1u);
  EXPECT_EQ(load_be<uint32_t>(sent[0].data() + 38), kGateway + 1);
}

TEST_F(Responder, AnswersEcho) {
  start(address());
  for (const size_t data : {size_t{0}, size_t{1}, size_t{56}, size_t{1472}, size_t{8972}}) {
    receive(echo(data));
    const std::vector<Bytes> sent = take();
    ASSERT_EQ(sent.size(), 1u) << data;
    const Bytes& answer = sent[0];
    const uint8_t* ip = answer.data() + 14;
    ASSERT_EQ(answer.size(), 42 + data);
    EXPECT_EQ(0, std::memcmp(answer.data(), kPeer.data(), 6));
    EXPECT_EQ(ip[8], 128);
    EXPECT_EQ(load_be<uint32_t>(ip + 12), kOurAddress);
    EXPECT_EQ(load_be<uint32_t>(ip + 16), kGateway);
    EXPECT_EQ(checksum_fold(checksum_add(0, ip, 20)), 0xffff);
    EXPECT_EQ(ip[20], 0);
    EXPECT_EQ(load_be<uint32_t>(ip + 24), 0x12340007u);
    EXPECT_EQ(checksum_fold(checksum_add(0, ip + 20, 8 + data)), 0xffff);
    for (size_t i = 0; i < data; ++i) ASSERT_EQ(ip[28 + i], static_cast<uint8_t>(i));
  }
}

TEST_F(Responder, LeavesOtherEchoesAlone) {
  start(address());
  receive(echo(8, 0x30000001));
  Bytes corrupt = echo(8);
  corrupt.back() ^= 1;
  receive(corrupt);
  receive(echo(8973));
  EXPECT_TRUE(take().empty());
}

TEST_F(Responder, FramesCutAnywhereAreIgnored) {
  start(address());
  for (const Bytes& whole : {arp(1, kGateway, kOurAddress), echo(40)})
    for (size_t length = 0; length < whole.size(); ++length) {
      const auto memory = std::make_unique<uint8_t[]>(length);
      std::copy_n(whole.begin(), length, memory.get());
      Frame frame;
      frame.head = memory.get();
      frame.head_length = static_cast<uint16_t>(length);
      responder->receive(parse(frame), 0);
    }
  EXPECT_TRUE(take().empty());
}

}  // namespace
}  // namespace engine
