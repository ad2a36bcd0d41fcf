// Segments onto frames: headers, options, checksums, payload by reference.

#include "tcp/emit.h"

#include <algorithm>
#include <bit>

namespace engine::tcp {

namespace {

constexpr unsigned kMaxBlocksBesideTimestamps = 3;
constexpr uint32_t kSackHead = kNoOperation << 24 | kNoOperation << 16 | kSackBlocks << 8;

/// RFC 2018 section 4: the block of the segment that caused this ACK first, then those that were
/// most recently so reported, then the others as far as there is room. What was delivered is none
/// of them: a block below the acknowledgment tells of a duplicate (D-SACK, RFC 2883).
unsigned choose_sack_blocks(const Extension& extension, unsigned limit, SequenceRange* blocks) {
  const auto& ranges = extension.out_of_order;
  const auto& reported = extension.reported;
  unsigned count = 0;
  for (const uint32_t start : reported)
    if (const auto range = std::ranges::find(ranges, start, &SequenceRange::start);
        range != ranges.end() && count < limit)
      blocks[count++] = *range;
  for (const SequenceRange& range : ranges)
    if (count < limit && std::ranges::find(reported, range.start) == reported.end())
      blocks[count++] = range;
  return count;
}

uint8_t* write_sack_blocks(const SequenceRange* blocks, unsigned count, uint8_t* at) {
  store_be<uint32_t>(at, kSackHead | (2 + 8 * count));
  at += 4;
  for (unsigned i = 0; i < count; ++i, at += 8) {
    store_be<uint32_t>(at, blocks[i].start);
    store_be<uint32_t>(at + 4, blocks[i].end);
  }
  return at;
}

}  // namespace

[[gnu::noinline]] bool write_any_segment(Context& context, const FlowClass& template_side,
                                         Flow& flow, Frame& frame, uint32_t sequence,
                                         uint32_t flags) {
  const uint32_t length = frame.payload_length;
  SequenceRange blocks[kMaxSackBlocks];
  unsigned count = 0;
  const bool reports = flow.extension != Flow::kNone && flow.has(kSack) &&
                       !context.extensions[flow.extension].out_of_order.empty();
  if (reports && length == 0)
    count = choose_sack_blocks(context.extensions[flow.extension],
                               flow.has(kTimestamps) ? kMaxBlocksBesideTimestamps : kMaxSackBlocks,
                               blocks);
  const uint8_t ecn = flow.has(kEcn) ? mark_segment(flow, sequence, length, flags) : uint8_t{0};
  const TxHeader header{.sequence = sequence,
                        .acknowledgment = (flags & kAck) != 0 ? flow.rcv_nxt : 0,
                        .length = kFixedHeader + (flow.has(kTimestamps) ? kTimestampsLength : 0) +
                                  (count != 0 ? 4 + 8 * count : 0),
                        .flags = flags,
                        .window = template_side.windows[flow.has(kScaling)]};
  uint8_t* end = write_headers(context, template_side, flow, frame, header, length, ecn);
  if (length > flow.mss) frame.segment_size = flow.mss;
  if (flow.has(kTimestamps)) end = write_timestamps(context, flow, end);
  if (count != 0) {
    write_sack_blocks(blocks, count, end);
    (*template_side.counters)[Counter::tcps_sack_send_blocks] += count;
  }
  return reports && length != 0;
}

QueuedBuffer buffer_at(Context& context, const Flow& flow, uint32_t sequence) {
  QueuedBuffer found{flow.tx_buffer, flow.tx_base};
  if (const Extension* extension = context.extension_of(flow))
    for (const QueuedBuffer& queued : extension->queue) {
      if (after(queued.base, sequence)) break;
      found = queued;
    }
  return found;
}

[[gnu::noinline]] uint8_t* write_long_headers(const Context& context,
                                              const FlowClass& template_side, const Flow& flow,
                                              Frame& frame, TxHeader header, uint32_t payload,
                                              uint32_t ecn) {
  const L2Header& l2 = (*template_side.l2_headers)[flow.l2_header];
  const IpAddress local = context.local_of(flow);
  const IpAddress remote = context.remote_of(flow);
  const bool ipv4 = local.is_v4();
  const uint32_t in_ip = header.length + payload;
  uint8_t* const ip = frame.head + write_ethernet(frame.head, l2, ether_type_of_ip(ipv4));
  uint8_t* const tcp = compose_ip(ip, local, remote, kProtocolTcp, in_ip,
                                  template_side.tunables->tos_with(static_cast<uint8_t>(ecn)),
                                  template_side.tunables->ttl, false);
  leave_checksums(frame, ip, tcp, header.length);
  frame.segment_size = 0;
  return write_tcp(
      tcp, flow.ports_sent(), header,
      checksum_swap(checksum_fold(pseudo_header_sum(local, remote, kProtocolTcp, in_ip))));
}

// The words are read as wide as they have just been written: the processor hands those over before
// they are in the cache. TCP's checksum field has the pseudo-header's sum.
void complete_checksums(Frame& frame, ChecksumSum payload) {
  const uint32_t length = frame.headers.transport;
  frame.checksums = Checksums::in_frame;
  uint8_t* const tcp = frame.head + frame.head_length - length;
  if (frame.headers.ipv4()) {
    uint8_t* const ip = tcp - kIpv4Length;
    const ChecksumSum sum = checksum_words<2, uint16_t>(ip) + checksum_words<4>(ip + 4);
    const uint16_t of_ip = checksum_finish(sum);
    std::memcpy(ip + 10, &of_ip, sizeof of_ip);
  }
  ChecksumSum sum = checksum_words<kFixedHeader / 4>(tcp) + checksum_swap(checksum_fold(payload));
  uint32_t at = kFixedHeader;
  if (length == kFixedHeader + kTimestampsLength) {
    sum = add_carry(sum, load_native<uint64_t>(tcp + at));
    at += 8;
  }
  for (; at < length; at += 4) sum = add_carry(sum, load_native<uint32_t>(tcp + at));
  const uint16_t of_tcp = checksum_finish(sum);
  std::memcpy(tcp + 16, &of_tcp, sizeof of_tcp);
}

[[gnu::noinline]] void complete_checksums_of(Context& context, const FlowClass& template_side,
                                             const Flow& flow, Frame& frame) {
  ChecksumSum sum = 0;
  if (const uint32_t length = frame.payload_length; length != 0) {
    const auto sequence =
        load_be<uint32_t>(frame.head + frame.head_length - frame.headers.transport + 4);
    const QueuedBuffer queued = buffer_at(context, flow, sequence);
    sum = (*template_side.buffers)[queued.buffer].sum(sequence - queued.base, length);
  }
  complete_checksums(frame, sum);
}

bool has_mbuf(Context& context, const Flow& flow) {
  FlowClass& template_side = context.class_of(flow);
  if (template_side.transmit->next() != nullptr) return true;
  ++(*template_side.counters)[Counter::tcps_nombuf];
  return false;
}

uint32_t segment_length(Context& context, const Flow& flow, uint32_t sequence, uint32_t length) {
  if (length > flow.mss) {
    const FlowClass& template_side = *context.classes[flow.flow_class];
    const uint32_t most =
        std::min(template_side.transmit->offloads().max_payload, Buffer::kMaxSpan - 128);
    length = std::min(length, most > flow.mss ? most / flow.mss * flow.mss : flow.mss);
  }
  // Without an extension there is but one buffer.
  if (flow.extension == Flow::kNone) return length;
  const QueuedBuffer queued = buffer_at(context, flow, sequence);
  const FlowClass& template_side = *context.classes[flow.flow_class];
  return std::min(length, queued.base + (*template_side.buffers)[queued.buffer].size() - sequence);
}

bool emit_control(Context& context, Flow& flow, uint32_t sequence, uint8_t flags) {
  const FlowClass& template_side = context.class_of(flow);
  CounterBlock& counters = *template_side.counters;
  if (!emit<false>(context, template_side, counters, flow, sequence, 0, flags)) return false;
  ++counters[(flags & (kFin | kRst)) != 0 ? Counter::tcps_sndctrl : Counter::tcps_sndacks];
  return true;
}

bool emit_data(Context& context, Flow& flow, uint32_t sequence, uint32_t length, bool fin) {
  const FlowClass& template_side = context.class_of(flow);
  return emit_data<false>(context, template_side, *template_side.counters, flow, sequence, length,
                          fin ? 1 : 0);
}

void send_reset(Context& context, Side side, const RxSegment& segment, const L2Header& l2,
                const Tunables& tunables) {
  if (segment.is(kRst)) return;
  TransmitQueue& queue = *context.transmit[index_of(side)];
  Frame* const frame = queue.next();
  if (frame == nullptr) return;
  const IpAddress local = segment.destination();
  const IpAddress remote = segment.source();
  uint8_t* const ip = frame->head + write_ethernet(frame->head, l2, ether_type_of_ip(segment.ipv4));
  uint8_t* const tcp = compose_ip(ip, local, remote, kProtocolTcp, kFixedHeader,
                                  tunables.tos_with(0), tunables.ttl, false);
  TxHeader header{.flags = kRst};
  if (segment.is(kAck)) {
    header.sequence = segment.acknowledgment();
  } else {
    header.acknowledgment = segment.sequence() + segment.span();
    header.flags = kRst | kAck;
  }
  write_tcp(
      tcp, std::rotl(segment.ports(), 16), header,
      checksum_swap(checksum_fold(pseudo_header_sum(local, remote, kProtocolTcp, kFixedHeader))));
  leave_checksums(*frame, ip, tcp, kFixedHeader);
  if (!queue.offloads().checksum) complete_checksums(*frame, 0);
  queue.commit();
}

}  // namespace engine::tcp
