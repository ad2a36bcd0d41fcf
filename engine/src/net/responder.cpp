#include "net/responder.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "net/checksum.h"
#include "net/ethernet.h"
#include "net/icmpv6.h"
#include "net/ip.h"

namespace engine {
namespace {

constexpr Nanoseconds kArpInterval = 250 * kMillisecond;
constexpr Nanoseconds kSolicitInterval = kSecond;  ///< RetransTimer, RFC 4861 section 10
constexpr Nanoseconds kAnnounceInterval = 120 * kSecond;
constexpr Nanoseconds kNever = std::numeric_limits<Nanoseconds>::max();

constexpr MacAddress kBroadcast{0xff, 0xff, 0xff, 0xff, 0xff, 0xff};

// ARP for IPv4 over Ethernet: RFC 826.
constexpr size_t kArpLength = 28;
constexpr uint64_t kArpEthernetIpv4 = 0x0001'0800'06'04;  // hardware, protocol, their lengths
constexpr uint16_t kArpRequest = 1;
constexpr uint16_t kArpReply = 2;

constexpr size_t kEchoLength = 8;
constexpr uint8_t kEchoTtl = 128;

MacAddress load_mac(const uint8_t* from) {
  MacAddress mac;
  std::memcpy(mac.data(), from, mac.size());
  return mac;
}

}  // namespace

PortResponder::PortResponder(const PortAddress& address, std::shared_ptr<LearnedGateway> learned,
                             L2HeaderTable& l2_headers, TransmitQueue& transmit)
    : address_(address),
      learned_(std::move(learned)),
      l2_headers_(l2_headers),
      transmit_(transmit),
      destination_(address.destination) {
  update_path();
}

void PortResponder::configure(const PortAddress& address, std::shared_ptr<LearnedGateway> fresh,
                              Nanoseconds now) {
  const bool same_gateway = address.ipv4.has_value() == address_.ipv4.has_value() &&
                            address.gateway == address_.gateway &&
                            address.ipv6_gateway == address_.ipv6_gateway &&
                            address.tags == address_.tags;
  const bool was_by_hand = address_.destination.has_value();
  address_ = address;
  if (was_by_hand || !same_gateway) learned_ = std::move(fresh);
  destination_ = address.destination ? address.destination : learned_->get();
  next_ = now;
  update_path();
}

bool PortResponder::receive(const RxSegment& segment, Nanoseconds now) {
  const Frame& frame = *segment.frame;
  if (frame.payload != nullptr || segment.l3_offset == 0) return false;
  if (read_ethernet(frame).tags.network() != address_.tags.network()) return false;
  const uint16_t type = segment.ether_type();
  if (address_.ipv6 && type == kEtherTypeIpv6) return receive_ipv6(frame, segment.l3_offset, now);
  if (!address_.ipv4.has_value()) return false;
  if (type == kEtherTypeArp) return receive_arp(frame, segment.l3_offset, now);
  return type == kEtherTypeIpv4 && answer_echo(frame, segment.l3_offset);
}

bool PortResponder::asks_over_ipv6() const {
  return address_.ipv6 && address_.ipv6_gateway && !address_.gateway && !address_.destination;
}

void PortResponder::advance(Nanoseconds now) {
  if (now < next_) return;
  if (!address_.ipv4.has_value() && !address_.ipv6) {
    next_ = kNever;
  } else if (!destination_.has_value() && address_.gateway.has_value()) {
    send_arp(kArpRequest, kBroadcast, MacAddress{}, *address_.gateway);
    next_ = now + kArpInterval;
  } else if (!destination_.has_value() && asks_over_ipv6()) {
    solicit_gateway();
    next_ = now + kSolicitInterval;
  } else {
    announce();
    next_ = now + kAnnounceInterval;
  }
}

void PortResponder::announce() {
  if (address_.ipv4)
    send_arp(kArpRequest, kBroadcast, MacAddress{}, *address_.ipv4);  // gratuitous: RFC 5227
  if (!address_.ipv6) return;
  advertise(link_local(address_.mac));
  if (address_.ipv6_address) advertise(*address_.ipv6_address);
}

bool PortResponder::receive_arp(const Frame& frame, size_t offset, Nanoseconds now) {
  if (frame.head_length < offset + kArpLength) return false;
  const uint8_t* arp = frame.head + offset;
  if (load_be<uint64_t>(arp) >> 16 != kArpEthernetIpv4) return false;
  const uint16_t operation = load_be<uint16_t>(arp + 6);
  const MacAddress sender_mac = load_mac(arp + 8);
  const uint32_t sender = load_be<uint32_t>(arp + 14);
  const uint32_t target = load_be<uint32_t>(arp + 24);
  if (sender_mac == address_.mac) return false;

  // RFC 826 merges whatever a known sender says of itself, so a gateway may change its address.
  if (sender == address_.gateway && !address_.destination.has_value()) resolve(sender_mac, now);
  if (operation == kArpRequest && target == address_.ipv4)
    send_arp(kArpReply, sender_mac, sender_mac, sender);
  return true;
}

bool PortResponder::answer_echo(const Frame& frame, size_t offset) {
  const size_t available = frame.head_length - offset;
  const uint8_t* ip = frame.head + offset;
  if (available < kIpv4Length + kEchoLength || ip[0] != 0x45 || ip[9] != kProtocolIcmp)
    return false;
  const size_t total = load_be<uint16_t>(ip + 2);
  if (total < kIpv4Length + kEchoLength || total > available || total > kLongestEcho) return false;
  if ((load_be<uint16_t>(ip + 6) & 0x3fff) != 0) return false;  // a fragment
  if (load_be<uint32_t>(ip + 16) != address_.ipv4) return false;
  const uint8_t* echo = ip + kIpv4Length;
  if (echo[0] != kIcmpEchoRequest) return false;
  if (checksum_fold(checksum_add(0, ip, kIpv4Length)) != 0xffff) return false;
  if (checksum_fold(checksum_add(0, echo, total - kIpv4Length)) != 0xffff) return false;

  Frame* answer = transmit_.next();
  if (answer == nullptr) return false;
  uint8_t* out = answer->head + write_ethernet(answer->head, header_back(frame), kEtherTypeIpv4);
  std::memcpy(out, ip, kIpv4Length + kEchoLength);
  out[8] = kEchoTtl;
  std::memcpy(out + 12, ip + 16, 4);
  std::memcpy(out + 16, ip + 12, 4);
  store_be<uint16_t>(out + 10, 0);
  store_be(out + 10, checksum_finish(checksum_add(0, out, kIpv4Length)));

  const std::span data = keep_echo({echo + kEchoLength, total - kIpv4Length - kEchoLength});
  uint8_t* reply = out + kIpv4Length;
  reply[0] = kIcmpEchoReply;
  store_be<uint16_t>(reply + 2, 0);
  const ChecksumSum sum =
      checksum_add(checksum_add(0, reply, kEchoLength), data.data(), data.size());
  store_be(reply + 2, checksum_finish(sum));
  send_echo(*answer, reply + kEchoLength, data);
  return true;
}

std::span<const uint8_t> PortResponder::keep_echo(std::span<const uint8_t> data) {
  std::ranges::copy(data, echo_.begin());
  return {echo_.data(), data.size()};
}

void PortResponder::send_echo(Frame& answer, const uint8_t* end, std::span<const uint8_t> data) {
  answer.head_length = static_cast<uint16_t>(end - answer.head);
  answer.payload = data.empty() ? nullptr : data.data();
  answer.payload_length = static_cast<uint32_t>(data.size());
  answer.passing = answer.payload != nullptr;
  transmit_.commit();
  transmit_.flush();
  answer.passing = false;  // as TCP finds it (next_as_it_is)
}

L2Header PortResponder::header_back(const Frame& frame) const {
  return {load_mac(frame.head + 6), address_.mac, address_.tags};
}

void PortResponder::send_arp(uint16_t operation, const MacAddress& to, const MacAddress& target_mac,
                             uint32_t target) {
  Frame* frame = transmit_.next();
  if (frame == nullptr) return;
  const L2Header l2{to, address_.mac, address_.tags};
  uint8_t* arp = frame->head + write_ethernet(frame->head, l2, kEtherTypeArp);
  store_be<uint64_t>(arp, kArpEthernetIpv4 << 16 | operation);
  std::memcpy(arp + 8, address_.mac.data(), 6);
  store_be(arp + 14, *address_.ipv4);
  std::memcpy(arp + 18, target_mac.data(), 6);
  store_be(arp + 24, target);
  frame->head_length = static_cast<uint16_t>(arp + kArpLength - frame->head);
  transmit_.commit();
}

void PortResponder::resolve(const MacAddress& gateway, Nanoseconds now) {
  learned_->set(gateway);
  follow(now);
}

void PortResponder::send_to(const MacAddress& gateway, Nanoseconds now) {
  destination_ = gateway;
  next_ = now + kAnnounceInterval;
  update_path();
}

void PortResponder::update_path() {
  l2_headers_.set_port({destination_.value_or(MacAddress{}), address_.mac, address_.tags});
}

}  // namespace engine
