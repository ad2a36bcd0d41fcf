#include "astf/other_packets.h"

#include "program/interpreter.h"
#include "udp/udp.h"

namespace engine {

namespace {

Counter reason_of(PacketKind kind) {
  switch (kind) {
    case PacketKind::fragment:
      return Counter::err_fragments_ipv4_drop;
    case PacketKind::bad_ip_sum:
      return Counter::err_l3_cs;
    case PacketKind::bad_transport_sum:
      return Counter::err_l4_cs;
    default:
      return Counter::err_len_err;
  }
}

}  // namespace

// Never inlined: as part of the way of segments it would take registers from it.
[[gnu::noinline]] void OtherPackets::process(Side side, const RxPacket& p) {
  const Nanoseconds now = context_.now;
  if (p.kind == PacketKind::udp) {
    process_udp(side, p);
  } else if (is_too_long_message(p)) {
    process_path_mtu(side, p);
  } else if (p.kind == PacketKind::other) {
    services_.receive(side, p, now);
  } else if (!services_.latency_streams[index_of(side)].receive(p, now)) {
    // A damaged frame of the latency stream is the stream's to count.
    ++counts_.of(side)[reason_of(p.kind)];
  }
}

void OtherPackets::process_udp(Side side, const RxPacket& p) {
  const uint32_t entry = context_.tables[index_of(side)].find(p.key, p.source(), p.destination());
  Flow* flow = FlowTable::is_flow(entry) ? &context_.flows[entry] : nullptr;
  if (flow != nullptr && flows_.abort_instead(*flow)) return;
  const bool begins = flow == nullptr;
  if (begins) flow = unmatched_.begin_datagrams(side, p);
  if (flow == nullptr) return;
  if (PayloadCheck* const check = classes_.of(*flow).payload_check) [[unlikely]]
    check_datagram(context_, *check, *flow, p);
  udp::receive(context_, *flow, p);
  // The first datagram counts before the program begins, so a first rx_msg may find it.
  const program::Outcome outcome = begins ? program::start(context_, classes_.of(*flow), *flow)
                                          : program::wake(context_, *flow, tcp::kDelivered);
  if (outcome == program::Outcome::release) flows_.release(*flow);
}

// A connection in TIME_WAIT has nothing in flight.
Flow* OtherPackets::sender_of(Side side, const TooLongPacket& packet) {
  const FlowTable& table = context_.tables[index_of(side)];
  const FlowKey key = table.key(packet.destination, packet.source, packet.destination_port,
                                packet.source_port, false);
  const uint32_t entry = table.find(key, packet.destination, packet.source);
  return FlowTable::is_flow(entry) ? &context_.flows[entry] : nullptr;
}

void OtherPackets::process_path_mtu(Side side, const RxPacket& p) {
  Context& context = context_;
  const std::optional<TooLongPacket> sent = read_too_long_message(p);
  Flow* const flow = sent ? sender_of(side, *sent) : nullptr;
  if (flow != nullptr && flows_.abort_instead(*flow)) return;
  const tcp::PathMtu outcome =
      flow == nullptr ? tcp::PathMtu::refused
                      : tcp::process_path_mtu(context, *flow, sent->sequence, sent->mtu);
  if (outcome == tcp::PathMtu::refused) {
    ++counts_.dropped(side)[Drop::path_mtu_refused];
    return;
  }
  counts_.path_mtu[index_of(side)].add(sent->mtu);
  if (outcome == tcp::PathMtu::lowered) tcp::transmit_slow_path(context, *flow);
}

}  // namespace engine
