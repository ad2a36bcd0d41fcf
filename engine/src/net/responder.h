#pragma once
// What a port itself says: ARP and ICMP echo for its address, and resolution of its gateway.

#include <array>
#include <cstdint>
#include <optional>

#include "flow/time.h"
#include "net/frame.h"
#include "net/path.h"

namespace engine {

/// A port's own addresses. With `ipv4` the port is in L3 mode and resolves `gateway` by ARP;
/// without, it is in L2 mode, silent, and sends to `destination`.
struct PortAddress {
  MacAddress mac{};
  std::optional<uint32_t> ipv4;           ///< host order
  std::optional<uint32_t> gateway;        ///< host order
  std::optional<MacAddress> destination;  ///< configured; in L3 mode: resolved by hand
  uint16_t vlan = 0;
};

/// The slow path of one port on one data core: everything that is neither TCP nor UDP ends here.
/// Answers only frames whose VLAN tag equals the port's. ARP: RFC 826; ICMP echo: RFC 792.
class PortResponder {
 public:
  /// `paths`[PathTable::kPort] is kept equal to the port's own path; `transmit` sends answers.
  PortResponder(const PortAddress& address, PathTable& paths, TransmitQueue& transmit);

  /// Replaces the port's addresses; resolution starts again when the gateway changed.
  void configure(const PortAddress& address, Nanoseconds now);
  const PortAddress& address() const { return address_; }

  /// False: nothing here knows what to do with the frame.
  bool receive(const Frame& frame, Nanoseconds now);
  /// Repeats unanswered ARP requests (every 250 ms while unresolved, every 120 s gratuitous ARP).
  void advance(Nanoseconds now);
  Nanoseconds next_deadline() const { return next_; }

  /// Destination MAC known, by configuration or by ARP.
  bool resolved() const { return destination_.has_value(); }
  std::optional<MacAddress> destination() const { return destination_; }

 private:
  bool receive_arp(const Frame& frame, size_t offset, Nanoseconds now);
  bool answer_echo(const Frame& frame, size_t offset);
  void send_arp(uint16_t operation, const MacAddress& to, const MacAddress& target_mac,
                uint32_t target);
  void resolve(const MacAddress& gateway, Nanoseconds now);
  void update_path();

  /// Largest IP packet of a jumbo frame; longer echo requests are not answered.
  static constexpr size_t kLongestEcho = 9000;

  PortAddress address_;
  PathTable& paths_;
  TransmitQueue& transmit_;
  std::optional<MacAddress> destination_;
  Nanoseconds next_ = 0;
  std::array<uint8_t, kLongestEcho> echo_;  ///< data of the last answer, while it is being sent
};

}  // namespace engine
