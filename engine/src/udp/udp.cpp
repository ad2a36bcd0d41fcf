#include "udp/udp.h"

#include <algorithm>

#include "flow/latency.h"
#include "net/compose.h"
#include "net/ethernet.h"
#include "net/ip.h"

namespace engine::udp {

namespace {

/// The longest IP packet of Ethernet; a datagram of a longer one would have to be fragmented.
constexpr uint32_t kEthernetMtu = 1500;

/// The longest IP packet that a flow may send, bytes.
uint32_t longest_packet(const FlowClass& template_side, const L2Header& l2) {
  if (template_side.mtu == 0) return kEthernetMtu;
  const uint32_t tags = template_side.tags_count ? tag_bytes_in_mtu(l2.tags) : 0;
  return std::min(kEthernetMtu, template_side.mtu - tags);
}

void restart_idle_timer(Context& context, Flow& flow) {
  context.wheel.arm(flow, TimerKind::idle, context.tick,
                    ticks_for(flow.udp_idle_ms * kMillisecond));
}

}  // namespace

void open(Context& context, Flow& flow) {
  flow.state = FlowState::datagram;
  flow.set(kEverEstablished);
  flow.udp_idle_ms = kDefaultIdleMs;
  restart_idle_timer(context, flow);
  FlowClass& template_side = context.class_of(flow);
  ++(*template_side.counters)[template_side.side == Side::client ? Counter::udps_connects
                                                                 : Counter::udps_accepts];
}

void receive(Context& context, Flow& flow, const RxSegment& packet) {
  CounterBlock& counters = *context.class_of(flow).counters;
  ++counters[Counter::udps_rcvpkt];
  counters[Counter::udps_rcvbyte] += packet.payload_length;
  ++flow.rx_available;
  if (!flow.has(kServerSide)) latency::record_payload(context, context.class_of(flow), flow);
  restart_idle_timer(context, flow);
}

bool send(Context& context, Flow& flow, uint32_t index) {
  FlowClass& template_side = context.class_of(flow);
  CounterBlock& counters = *template_side.counters;
  const Buffer& buffer = (*template_side.buffers)[index];
  const IpAddress local = context.local_of(flow);
  const IpAddress remote = context.remote_of(flow);
  const bool ipv4 = local.is_v4();
  const L2Header& l2 = (*template_side.l2_headers)[flow.l2_header];
  if (uint64_t{buffer.size()} + kUdpLength + (ipv4 ? kIpv4Length : kIpv6Length) >
      longest_packet(template_side, l2)) {
    ++counters[Counter::udps_pkt_toobig];
    return true;
  }
  TransmitQueue& queue = *template_side.transmit;
  Frame* frame = queue.next();
  if (frame == nullptr) {
    ++counters[Counter::udps_nombuf];
    return false;
  }
  const bool offload = queue.offloads().checksum;
  const uint32_t length = kUdpLength + buffer.size();
  uint8_t* const ip = frame->head + write_ethernet(frame->head, l2, ether_type_of_ip(ipv4));
  uint8_t* const header =
      compose_ip(ip, local, remote, kProtocolUdp, length, template_side.tunables->tos_with(0),
                 template_side.tunables->ttl, !offload);
  const uint32_t ports = flow.ports_sent();
  std::memcpy(header, &ports, sizeof ports);
  store_be<uint16_t>(header + 4, static_cast<uint16_t>(length));
  store_be<uint16_t>(header + 6, 0);
  ChecksumSum sum = pseudo_header_sum(local, remote, kProtocolUdp, length);
  if (offload) {
    leave_checksums(*frame, ip, header, kUdpLength);
    store_be<uint16_t>(header + 6, checksum_fold(sum));
  } else {
    sum = checksum_add(sum, header, kUdpLength) + buffer.sum(0, buffer.size());
    const uint16_t checksum = checksum_finish(sum);
    store_be<uint16_t>(header + 6, checksum == 0 ? 0xffff : checksum);  // 0 means none (RFC 768)
  }
  frame->head_length = static_cast<uint16_t>(header + kUdpLength - frame->head);
  if (buffer.size() != 0) {
    frame->payload = buffer.at(0, buffer.size());
    frame->payload_length = buffer.size();
  }
  queue.commit();
  ++counters[Counter::udps_sndpkt];
  counters[Counter::udps_sndbyte] += buffer.size();
  if (!flow.has(kReceiveOnlyKeepalive)) restart_idle_timer(context, flow);
  return true;
}

void set_idle(Context& context, Flow& flow, uint32_t milliseconds, bool receive_only) {
  flow.udp_idle_ms = milliseconds;
  if (receive_only)
    flow.set(kReceiveOnlyKeepalive);
  else
    flow.clear(kReceiveOnlyKeepalive);
  restart_idle_timer(context, flow);
}

}  // namespace engine::udp
