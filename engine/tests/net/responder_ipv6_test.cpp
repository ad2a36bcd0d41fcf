// Neighbour discovery and echo of a port. Messages are put together byte by byte here, as RFC 4861
// section 4 draws them, so that reading and writing are not each other's only witness.

#include <gtest/gtest.h>

#include <memory>
#include <utility>
#include <vector>

#include "net/address_text.h"
#include "net/checksum.h"
#include "net/ethernet.h"
#include "net/icmpv6.h"
#include "net/recording_device.h"
#include "net/responder.h"

namespace engine {
namespace {

using Bytes = std::vector<uint8_t>;

constexpr MacAddress kOurMac{2, 0, 0, 0, 0, 1};
constexpr MacAddress kPeerMac{2, 0, 0, 0, 0, 9};

IpAddress ip(const char* text) {
  return *parse_ipv6(text);
}

const IpAddress kLinkLocal = ip("fe80::ff:fe00:1");  // of kOurMac
const IpAddress kOurIpv6 = ip("2001:db8::11");
const IpAddress kGatewayIpv6 = ip("2001:db8::22");
const IpAddress kOurGroup = ip("ff02::1:ff00:11");

void append(Bytes& to, const IpAddress& address) {
  to.resize(to.size() + 16);
  store_be(to.data() + to.size() - 16, address.high);
  store_be(to.data() + to.size() - 8, address.low);
}

/// An Ethernet frame from kPeerMac with an ICMPv6 message, its checksum filled in.
Bytes frame_of(const IpAddress& source, const IpAddress& destination, Bytes message,
               uint8_t hop_limit = 255, uint16_t vlan = 0) {
  Bytes frame(18);
  frame.resize(write_ethernet(frame.data(), {kOurMac, kPeerMac, vlan_tags(vlan)}, kEtherTypeIpv6));
  const auto length = static_cast<uint8_t>(message.size() & 0xff);
  const auto high = static_cast<uint8_t>(message.size() >> 8);
  frame.insert(frame.end(), {0x60, 0, 0, 0, high, length, 58, hop_limit});
  append(frame, source);
  append(frame, destination);
  const ChecksumSum sum =
      pseudo_header_sum(source, destination, 58, static_cast<uint32_t>(message.size()));
  store_be(message.data() + 2, checksum_finish(checksum_add(sum, message.data(), message.size())));
  frame.insert(frame.end(), message.begin(), message.end());
  return frame;
}

/// `option`: 1 source, 2 target link-layer address of kPeerMac; 0 none.
Bytes neighbour(uint8_t type, uint8_t flags, const IpAddress& target, uint8_t option) {
  Bytes message{type, 0, 0, 0, flags, 0, 0, 0};
  append(message, target);
  if (option != 0) {
    message.insert(message.end(), {option, 1});
    message.insert(message.end(), kPeerMac.begin(), kPeerMac.end());
  }
  return message;
}

Bytes solicitation(const IpAddress& target, const IpAddress& source = kGatewayIpv6) {
  return frame_of(source, solicited_node(target), neighbour(135, 0, target, 1));
}

Bytes echo(const IpAddress& destination, size_t data) {
  Bytes message{128, 0, 0, 0, 0x12, 0x34, 0, 7};
  for (size_t i = 0; i < data; ++i) message.push_back(static_cast<uint8_t>(i));
  return frame_of(kGatewayIpv6, destination, message, 64);
}

/// The parts of an answer that tests look at.
struct Answer {
  explicit Answer(const Bytes& frame)
      : frame(frame),
        source(IpAddress::v6(&frame[22])),
        destination(IpAddress::v6(&frame[38])),
        message(frame.begin() + 54, frame.end()) {}
  bool checksum_is_right() const {
    return checksum_fold(checksum_add(
               pseudo_header_sum(source, destination, 58, static_cast<uint32_t>(message.size())),
               message.data(), message.size())) == 0xffff;
  }
  IpAddress target() const { return IpAddress::v6(&message[8]); }
  Bytes frame;
  IpAddress source;
  IpAddress destination;
  Bytes message;
};

class ResponderIpv6 : public testing::Test {
 protected:
  static PortAddress address() {
    PortAddress address;
    address.mac = kOurMac;
    address.ipv6 = true;
    address.ipv6_address = kOurIpv6;
    address.ipv6_gateway = kGatewayIpv6;
    return address;
  }

  void start(const PortAddress& address) {
    responder = std::make_unique<PortResponder>(address, learned, l2_headers, queue);
  }
  bool receive(const Bytes& bytes, Nanoseconds now = 0) {
    const auto memory = std::make_unique<uint8_t[]>(bytes.size());  // for the sanitizer: no more
    std::ranges::copy(bytes, memory.get());
    Frame frame;
    frame.head = memory.get();
    frame.head_length = static_cast<uint16_t>(bytes.size());
    const bool known = responder->receive(parse(frame), now);
    queue.flush();
    return known;
  }
  std::vector<Answer> take() {
    queue.flush();
    std::vector<Answer> answers;
    for (const Bytes& frame : std::exchange(device.sent, {})) answers.emplace_back(frame);
    return answers;
  }
  std::vector<Answer> advance(Nanoseconds now) {
    responder->advance(now);
    return take();
  }

  RecordingDevice device;
  TransmitQueue queue{device, {}};
  L2HeaderTable l2_headers{L2Header{}};
  std::shared_ptr<LearnedGateway> learned = std::make_shared<LearnedGateway>();
  std::unique_ptr<PortResponder> responder;
};

TEST_F(ResponderIpv6, SolicitsItsGatewayEverySecondUntilAnswered) {
  start(address());
  EXPECT_FALSE(responder->resolved());
  for (const Nanoseconds now : {0 * kSecond, kSecond, 2 * kSecond}) {
    const std::vector<Answer> sent = advance(now);
    ASSERT_EQ(sent.size(), 1u);
    EXPECT_TRUE(advance(now + 999 * kMillisecond).empty());
    const Answer& asked = sent[0];
    EXPECT_EQ(Bytes(asked.frame.begin(), asked.frame.begin() + 6),
              (Bytes{0x33, 0x33, 0xff, 0, 0, 0x22}));
    EXPECT_EQ(asked.source, kOurIpv6);
    EXPECT_EQ(asked.destination, ip("ff02::1:ff00:22"));
    EXPECT_EQ(asked.frame[21], 255);
    EXPECT_TRUE(asked.checksum_is_right());
    EXPECT_EQ(asked.message[0], 135);
    EXPECT_EQ(asked.target(), kGatewayIpv6);
    EXPECT_EQ(Bytes(asked.message.begin() + 24, asked.message.end()),
              (Bytes{1, 1, 2, 0, 0, 0, 0, 1}));
  }
  EXPECT_TRUE(
      receive(frame_of(kGatewayIpv6, kOurIpv6, neighbour(136, 0x60, kGatewayIpv6, 2)), kSecond));
  EXPECT_EQ(responder->destination(), kPeerMac);
  EXPECT_EQ(l2_headers[L2HeaderTable::kPort], (L2Header{kPeerMac, kOurMac, {}}));
  EXPECT_TRUE(advance(100 * kSecond).empty());
  // Then it tells of both its addresses every 120 s.
  const std::vector<Answer> told = advance(121 * kSecond);
  ASSERT_EQ(told.size(), 2u);
  for (const Answer& one : told) {
    EXPECT_EQ(one.destination, ip("ff02::1"));
    EXPECT_EQ(one.message[0], 136);
    EXPECT_EQ(one.message[4], 0x20);  // override, not solicited
    EXPECT_TRUE(one.checksum_is_right());
  }
  EXPECT_EQ(told[0].target(), kLinkLocal);
  EXPECT_EQ(told[1].target(), kOurIpv6);
}

TEST_F(ResponderIpv6, TheGatewayMayTellOfItselfByAskingAndMayMove) {
  start(address());
  receive(solicitation(kOurIpv6));
  EXPECT_EQ(responder->destination(), kPeerMac);
  Bytes moved = neighbour(136, 0x20, kGatewayIpv6, 2);
  moved.back() = 0x77;
  receive(frame_of(kGatewayIpv6, ip("ff02::1"), moved));
  EXPECT_EQ((*responder->destination())[5], 0x77);
}

TEST_F(ResponderIpv6, WithAnIpv4GatewayItAsksThatOne) {
  PortAddress both = address();
  both.ipv4 = 0xc6120001;
  both.gateway = 0xc6120002;
  start(both);
  responder->advance(0);
  queue.flush();
  ASSERT_EQ(device.sent.size(), 1u);
  EXPECT_EQ(load_be<uint16_t>(device.sent[0].data() + 12), kEtherTypeArp);
  device.sent.clear();
  receive(solicitation(kOurIpv6));
  EXPECT_EQ(take().size(), 1u);  // it answers over IPv6 all the same
  EXPECT_FALSE(responder->resolved());
}

TEST_F(ResponderIpv6, AnswersSolicitationsForItsAddressesAlone) {
  start(address());
  for (const IpAddress& target : {kOurIpv6, kLinkLocal}) {
    EXPECT_TRUE(receive(solicitation(target)));
    const std::vector<Answer> sent = take();
    ASSERT_EQ(sent.size(), 1u);
    EXPECT_EQ(Bytes(sent[0].frame.begin(), sent[0].frame.begin() + 6),
              Bytes(kPeerMac.begin(), kPeerMac.end()));
    EXPECT_EQ(sent[0].source, target);
    EXPECT_EQ(sent[0].destination, kGatewayIpv6);
    EXPECT_EQ(sent[0].frame[21], 255);
    EXPECT_EQ(sent[0].message[0], 136);
    EXPECT_EQ(sent[0].message[4], 0x60);  // solicited, override
    EXPECT_EQ(sent[0].target(), target);
    EXPECT_EQ(Bytes(sent[0].message.begin() + 24, sent[0].message.end()),
              (Bytes{2, 1, 2, 0, 0, 0, 0, 1}));
    EXPECT_TRUE(sent[0].checksum_is_right());
  }
  EXPECT_TRUE(receive(solicitation(ip("2001:db8::12"))));
  EXPECT_TRUE(take().empty());
}

TEST_F(ResponderIpv6, OneThatTriesOurAddressOutIsToldBeforeAll) {
  start(address());
  receive(frame_of(IpAddress{}, kOurGroup, neighbour(135, 0, kOurIpv6, 0)));
  const std::vector<Answer> sent = take();
  ASSERT_EQ(sent.size(), 1u);
  EXPECT_EQ(sent[0].destination, ip("ff02::1"));
  EXPECT_EQ(sent[0].frame[0], 0x33);
  EXPECT_EQ(sent[0].message[4], 0x20);
}

TEST_F(ResponderIpv6, WhatIsNotValidIsNotAnswered) {
  start(address());
  const Bytes good = neighbour(135, 0, kOurIpv6, 1);
  receive(frame_of(kGatewayIpv6, kOurGroup, good, 254));  // came over a router
  Bytes code = good;
  code[1] = 1;
  receive(frame_of(kGatewayIpv6, kOurGroup, code));
  Bytes option = good;
  option[25] = 0;
  receive(frame_of(kGatewayIpv6, kOurGroup, option));
  option[25] = 2;
  receive(frame_of(kGatewayIpv6, kOurGroup, option));
  receive(frame_of(IpAddress{}, kOurGroup, good));  // nobody, with a link-layer address
  receive(frame_of(IpAddress{}, kOurIpv6, neighbour(135, 0, kOurIpv6, 0)));
  Bytes corrupt = solicitation(kOurIpv6);
  corrupt.back() ^= 1;
  receive(corrupt);
  receive(frame_of(kGatewayIpv6, kOurGroup, good, 255, 31));  // another VLAN
  // A solicited advertisement for all; one of a group.
  receive(frame_of(kGatewayIpv6, ip("ff02::1"), neighbour(136, 0x60, kGatewayIpv6, 2)));
  receive(frame_of(kGatewayIpv6, kOurIpv6, neighbour(136, 0x60, ip("ff02::5"), 2)));
  EXPECT_TRUE(take().empty());
  EXPECT_FALSE(responder->resolved());
  receive(frame_of(kGatewayIpv6, kOurGroup, good));
  EXPECT_EQ(take().size(), 1u);
}

TEST_F(ResponderIpv6, AnswersEcho) {
  start(address());
  for (const size_t data : {size_t{0}, size_t{1}, size_t{56}, size_t{8952}}) {
    EXPECT_TRUE(receive(echo(kOurIpv6, data)));
    const std::vector<Answer> sent = take();
    ASSERT_EQ(sent.size(), 1u) << data;
    EXPECT_EQ(sent[0].source, kOurIpv6);
    EXPECT_EQ(sent[0].destination, kGatewayIpv6);
    EXPECT_EQ(sent[0].message[0], 129);
    EXPECT_EQ(load_be<uint32_t>(&sent[0].message[4]), 0x12340007u);
    EXPECT_TRUE(sent[0].checksum_is_right()) << data;
    ASSERT_EQ(sent[0].message.size(), 8 + data);
    for (size_t i = 0; i < data; ++i) ASSERT_EQ(sent[0].message[8 + i], static_cast<uint8_t>(i));
  }
  receive(echo(ip("ff02::1"), 8));
  const std::vector<Answer> sent = take();
  ASSERT_EQ(sent.size(), 1u);
  EXPECT_EQ(sent[0].source, kLinkLocal);
  EXPECT_FALSE(receive(echo(ip("2001:db8::12"), 8)));
  EXPECT_FALSE(receive(echo(kOurIpv6, 9000)));
  EXPECT_TRUE(take().empty());
}

TEST_F(ResponderIpv6, DisabledItIsSilent) {
  PortAddress off = address();
  off.ipv6 = false;
  start(off);
  EXPECT_TRUE(advance(kSecond).empty());
  receive(solicitation(kOurIpv6));
  receive(solicitation(kLinkLocal));
  receive(echo(kOurIpv6, 8));
  EXPECT_TRUE(take().empty());
  responder->configure(address(), std::make_shared<LearnedGateway>(), 2 * kSecond);
  EXPECT_EQ(advance(2 * kSecond).size(), 1u);
}

TEST_F(ResponderIpv6, FramesCutAnywhereAreIgnored) {
  start(address());
  for (const Bytes& whole : {solicitation(kOurIpv6), echo(kOurIpv6, 40)})
    for (size_t length = 0; length < whole.size(); ++length)
      receive({whole.begin(), whole.begin() + static_cast<ptrdiff_t>(length)});
  EXPECT_TRUE(take().empty());
}

}  // namespace
}  // namespace engine
