#pragma once
// The headers of segments to send: the one writer of TCP headers, and the one of time stamps.

#include "flow/context.h"
#include "net/compose.h"
#include "net/ethernet.h"
#include "net/tcp_header.h"

namespace engine::tcp {

/// What a header says that its flow does not.
struct TxHeader {
  uint32_t sequence = 0;
  uint32_t acknowledgment = 0;
  uint32_t length = kFixedHeader;  ///< of the TCP header with its options
  uint32_t flags = 0;
  uint32_t window = 0;  ///< as on the wire
};

/// Writes a TCP header up to its options. `ports`: as they are in memory (FlowKey::ports_sent);
/// `pseudo`: the pseudo-header's folded sum in the network's byte order, which takes the checksum's
/// place (Checksums::partial). Returns where the options begin.
[[gnu::always_inline]] inline uint8_t* write_tcp(uint8_t* __restrict tcp, uint32_t ports,
                                                 const TxHeader& header, uint16_t pseudo) {
  std::memcpy(tcp, &ports, sizeof ports);
  store_be<uint32_t>(tcp + 4, header.sequence);
  store_be<uint32_t>(tcp + 8, header.acknowledgment);
  store_be<uint32_t>(tcp + 12, header.length << 26 | header.flags << 16 | header.window);
  const uint32_t sum_and_urgent =
      std::endian::native == std::endian::little ? uint32_t{pseudo} : uint32_t{pseudo} << 16;
  std::memcpy(tcp + 16, &sum_and_urgent, sizeof sum_and_urgent);
  return tcp + kFixedHeader;
}

/// Writes the headers of a segment of `flow` with `payload` bytes behind them, over IPv4 and an
/// untagged `l2`, up to TCP's options; sets the frame's fields but for its payload, for a device
/// that is to cut nothing. `ecn`: the IP header's code point. Checksums are partial: see
/// complete_checksums. Returns where the options begin. Always inlined.
[[gnu::always_inline]] inline uint8_t* write_ipv4_headers(const FlowClass& template_side,
                                                          const Flow& flow, const L2Header& l2,
                                                          Frame& frame, const TxHeader& header,
                                                          uint32_t payload, uint32_t ecn) {
  constexpr uint32_t kTcp = kEthernetLength + kIpv4Length;
  frame.head_length = static_cast<uint16_t>(kTcp + header.length);
  frame.segment_size = 0;
  frame.checksums = Checksums::partial;
  frame.headers = {kEthernetLength, kIpv4Length, static_cast<uint8_t>(header.length)};
  uint8_t* __restrict const head = frame.head;  // nothing else is written through it
  const uint32_t in_ip = header.length + payload;
  const uint64_t addresses = flow.addresses_sent();
  std::memcpy(head, &l2, 16);  // four bytes more, which are written over
  std::memcpy(head + 12, template_side.ipv4_head, sizeof template_side.ipv4_head);
  if (ecn != 0) head[15] = static_cast<uint8_t>(head[15] | ecn);
  store_be<uint16_t>(head + 16, static_cast<uint16_t>(kIpv4Length + in_ip));
  std::memcpy(head + 26, &addresses, sizeof addresses);
  // The sum of words as they are in memory; only the length is in this machine's order.
  return write_tcp(
      head + kTcp, flow.ports_sent(), header,
      checksum_fold(static_cast<uint32_t>(addresses), static_cast<uint32_t>(addresses >> 32),
                    checksum_swap(static_cast<uint16_t>(kProtocolTcp + in_ip))));
}

/// The same over IPv6 or with VLAN tags. A header by reference would be in memory for all callers.
uint8_t* write_long_headers(const Context& context, const FlowClass& template_side,
                            const Flow& flow, Frame& frame, TxHeader header, uint32_t payload,
                            uint32_t ecn);

/// The same of any flow.
[[gnu::always_inline]] inline uint8_t* write_headers(const Context& context,
                                                     const FlowClass& template_side,
                                                     const Flow& flow, Frame& frame,
                                                     const TxHeader& header, uint32_t payload,
                                                     uint32_t ecn = 0) {
  const L2Header* const l2 = template_side.l2_headers->untagged(flow.l2_header);
  if (flow.has(kIpv6) || l2 == nullptr) [[unlikely]]
    return write_long_headers(context, template_side, flow, frame, header, payload, ecn);
  return write_ipv4_headers(template_side, flow, *l2, frame, header, payload, ecn);
}

/// Writes the option as every sender lays it out; returns where it ends.
[[gnu::always_inline]] inline uint8_t* write_timestamps(const Context& context, const Flow& flow,
                                                        uint8_t* __restrict at) {
  std::memcpy(at, &context.timestamp_option, sizeof context.timestamp_option);
  store_be<uint32_t>(at + 8, flow.ts_recent);
  return at + kTimestampsLength;
}

/// Completes the checksums of a frame whose headers are written, for a device that does not.
/// `payload`: the sum of its payload.
void complete_checksums(Frame& frame, ChecksumSum payload);

/// The slot of the queue has been written.
[[gnu::always_inline]] inline void commit(Context& context, CounterBlock& counters, Flow& flow,
                                          TransmitQueue& queue) {
  queue.commit();
  flow.last_ack_sent = flow.rcv_nxt;
  context.wheel.disarm(flow, TimerKind::delayed_ack);
  ++counters[Counter::tcps_sndtotal];
}

}  // namespace engine::tcp
