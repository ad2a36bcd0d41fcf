#pragma once
// Tunables of one side of a template: global and template values resolved (TRex "Tunables
// reference").

#include <array>
#include <cstdint>

namespace engine {

inline constexpr uint16_t kLeastMss = 10;  ///< TRex's least tcp.mss

struct Tunables {
  // ip
  uint8_t tos = 0;
  uint8_t ttl = 127;  ///< 64 for IPv6
  bool dont_use_inbound_mac = false;
  // ipv6
  bool ipv6 = false;
  std::array<uint32_t, 3> source_msb{};  ///< upper 96 bits, host order
  std::array<uint32_t, 3> destination_msb{};
  // tcp
  uint16_t mss = 1460;               ///< 1440 for IPv6
  uint16_t initial_window = 10;      ///< segments
  uint32_t receive_buffer = 32768;   ///< bytes
  uint32_t transmit_buffer = 32768;  ///< bytes
  uint8_t duplicate_ack_threshold = 3;
  bool timestamps_and_scaling = true;  ///< do_rfc1323
  bool sack = true;
  uint32_t keep_init_s = 5;
  uint32_t keep_idle_s = 5;
  uint32_t keep_interval_s = 7;
  uint8_t blackhole = 0;
  uint32_t delayed_ack_ms = 100;
  bool nagle = true;                ///< no_delay bit 0 clear
  bool push_always = false;         ///< no_delay bit 1
  uint32_t ack_bytes = 0;           ///< no_delay_counter: received bytes that trigger an ACK; 0 off
  uint8_t congestion_control = 0;   ///< cc_algo: 0 NewReno, 1 CUBIC
  uint8_t ecn = 0;                  ///< 0 off, 1 active, 2 passive
  uint16_t reassembly_limit = 100;  ///< out-of-order blocks

  /// The TOS byte of packets with these two bits of ECN (RFC 3168).
  uint8_t tos_with(uint8_t ecn) const { return static_cast<uint8_t>((tos & ~3u) | ecn); }

  /// The largest segment, bytes, whose packet without options is not longer than `mtu`; 0: any.
  uint16_t mss_within(uint32_t mtu) const;

  bool operator==(const Tunables&) const = default;
};

}  // namespace engine
