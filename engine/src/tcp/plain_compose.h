#pragma once
// Frames of plain segments (plain.h), in one piece with those who send them.

#include "flow/context.h"
#include "net/compose.h"
#include "net/ethernet.h"
#include "tcp/plain_segment.h"

namespace engine::tcp {

/// Writes a segment of `length` bytes from `sequence` on, up to its options, which take the rest of
/// `header` bytes. Its checksums are left to the device. Returns where the options begin.
template <uint32_t header>
[[gnu::always_inline]] inline uint8_t* compose(const FlowClass& shared, const Flow& flow,
                                               const Path& path, Frame& frame, uint32_t sequence,
                                               uint32_t length, uint32_t flags, uint32_t window) {
  frame.payload = nullptr;
  if (length != 0)
    frame.payload = (*shared.buffers)[flow.tx_buffer].at(sequence - flow.tx_base, length);
  frame.payload_length = length;
  frame.segment_size = 0;
  frame.head_length = static_cast<uint16_t>(kPlainTcp + header);
  frame.checksums = Checksums::partial;

  uint8_t* const head = frame.head;
  const uint32_t in_ip = header + length;
  const uint32_t local = flow.local.low32();
  const uint32_t remote = flow.remote.low32();
  std::memcpy(head, &path, 12);
  store_be<uint32_t>(head + 12, shared.ethernet_ip);
  store_be<uint16_t>(head + 16, static_cast<uint16_t>(kIpv4Length + in_ip));
  store_be<uint64_t>(head + 18, shared.ip);
  store_be<uint32_t>(head + 26, local);
  store_be<uint32_t>(head + 30, remote);
  uint8_t* const tcp = head + kPlainTcp;
  store_be<uint32_t>(tcp, uint32_t{flow.local_port} << 16 | flow.remote_port);
  store_be<uint32_t>(tcp + 4, sequence);
  store_be<uint32_t>(tcp + 8, flow.rcv_nxt);
  store_be<uint32_t>(tcp + 12, header << 26 | flags << 16 | window);
  const ChecksumSum sum = pseudo_header_sum_v4(local, remote, kProtocolTcp, in_ip);
  store_be<uint32_t>(tcp + 16, uint32_t{checksum_fold(sum)} << 16);
  return tcp + kFixedHeader;
}

[[gnu::always_inline]] inline void put_timestamps(const Context& context, const Flow& flow,
                                                  uint8_t* at) {
  store_be<uint32_t>(at, kAlignedTimestamps);
  store_be<uint32_t>(at + 4, context.timestamp);
  store_be<uint32_t>(at + 8, flow.ts_recent);
}

/// Completes the checksums of a frame that `compose<header>` wrote, for a device that does not. In
/// plain_output.cpp.
template <uint32_t header>
void complete_checksums(const FlowClass& shared, const Flow& flow, Frame& frame);

/// The next slot of the queue has been written, by `compose<header>` and who wrote the options.
template <uint32_t header>
[[gnu::always_inline]] inline void commit(Context& context, const FlowClass& shared, Flow& flow,
                                          TransmitQueue& queue, Frame& frame) {
  if (!queue.offloads().checksum) complete_checksums<header>(shared, flow, frame);
  queue.commit();
  flow.clear(kAckNow);
  flow.last_ack_sent = flow.rcv_nxt;
  context.wheel.disarm(flow, TimerKind::delayed_ack);
  ++(*shared.counters)[Counter::tcps_sndtotal];
}

}  // namespace engine::tcp
