#pragma once
// What a port itself says: ARP, neighbour discovery and echo for its addresses, and resolution of
// its gateway.

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "base/time.h"
#include "net/address.h"
#include "net/gateway.h"
#include "net/l2_header.h"
#include "net/rx_segment.h"

namespace engine {

/// A port's own addresses. With `ipv4` the port is in L3 mode and resolves `gateway` by ARP;
/// without, it is in L2 mode and sends to `destination`. With `ipv6` it has the link-local address
/// of its MAC and `ipv6_address`, and resolves `ipv6_gateway` when it has no other one. With
/// neither it is silent.
struct PortAddress {
  MacAddress mac{};
  std::optional<uint32_t> ipv4;           ///< host order
  std::optional<uint32_t> gateway;        ///< host order
  std::optional<MacAddress> destination;  ///< configured; in L3 mode: resolved by hand
  bool ipv6 = false;
  std::optional<IpAddress> ipv6_address;
  std::optional<IpAddress> ipv6_gateway;
  VlanTags tags{};
};

struct NeighbourMessage;

/// The slow path of one port on one data core: everything that is neither TCP nor UDP ends here.
/// Answers only frames of the port's VLAN. ARP: RFC 826; ICMP echo: RFC 792;
/// neighbour discovery: RFC 4861; ICMPv6 echo: RFC 4443.
class PortResponder {
 public:
  /// `learned`: shared by all cores of the port. `l2_headers`[L2HeaderTable::kPort] is kept equal
  /// to the port's own; `transmit` sends answers.
  PortResponder(const PortAddress& address, std::shared_ptr<LearnedGateway> learned,
                L2HeaderTable& l2_headers, TransmitQueue& transmit);

  /// Replaces the port's addresses. When the gateway changed, resolution starts again, and all
  /// cores of the port share `fresh` from now on.
  void configure(const PortAddress& address, std::shared_ptr<LearnedGateway> fresh,
                 Nanoseconds now);
  const PortAddress& address() const { return address_; }

  /// False: nothing here knows what to do with the frame.
  bool receive(const RxSegment& segment, Nanoseconds now);
  /// Sends from now on to where another core of the port has learned that its gateway is.
  void follow(Nanoseconds now) {
    if (address_.destination) return;
    if (const auto gateway = learned_->get(); gateway && gateway != destination_)
      send_to(*gateway, now);
  }
  /// Asks for the gateway again while it has not answered (ARP: every 250 ms, IPv6: every second);
  /// then tells of the port's own addresses every 120 s.
  void advance(Nanoseconds now);
  Nanoseconds next_deadline() const { return next_; }

  /// Destination MAC known, by configuration or by the gateway's answer.
  bool resolved() const { return destination_.has_value(); }
  std::optional<MacAddress> destination() const { return destination_; }

 private:
  bool asks_over_ipv6() const;
  void announce();
  bool receive_arp(const Frame& frame, size_t offset, Nanoseconds now);
  bool answer_echo(const Frame& frame, size_t offset);
  void send_arp(uint16_t operation, const MacAddress& to, const MacAddress& target_mac,
                uint32_t target);
  /// Keeps an echo request's data until its answer is sent: the request's memory is its device's.
  std::span<const uint8_t> keep_echo(std::span<const uint8_t> data);
  /// Sends an answer whose headers end at `end`.
  void send_echo(Frame& answer, const uint8_t* end, std::span<const uint8_t> data);
  L2Header header_back(const Frame& frame) const;
  void resolve(const MacAddress& gateway, Nanoseconds now);
  void send_to(const MacAddress& gateway, Nanoseconds now);
  void update_path();

  // -- responder_ipv6.cpp
  bool owns(const IpAddress& address) const;
  bool receive_ipv6(const Frame& frame, size_t offset, Nanoseconds now);
  bool answer_echo6(const Frame& frame, std::span<const uint8_t> packet);
  void solicit_gateway();
  void advertise(const IpAddress& address);
  void send_neighbour(const NeighbourMessage& message, const MacAddress& to);

  /// Largest IP packet of a jumbo frame; longer echo requests are not answered.
  static constexpr size_t kLongestEcho = 9000;

  PortAddress address_;
  std::shared_ptr<LearnedGateway> learned_;
  L2HeaderTable& l2_headers_;
  TransmitQueue& transmit_;
  std::optional<MacAddress> destination_;  ///< configured, or as learned_ says
  Nanoseconds next_ = 0;
  std::array<uint8_t, kLongestEcho> echo_;  ///< data of the last answer, while it is being sent
};

}  // namespace engine
