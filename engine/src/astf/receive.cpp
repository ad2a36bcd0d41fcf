// From frames to flows, and what is answered to a packet without one (TRex:
// src/44bsd/flow_table.cpp).

#include <algorithm>

#include "astf/world.h"
#include "udp/udp.h"

namespace engine {

namespace {

/// Frames parsed ahead, so that a flow's cache lines are on their way before it is touched.
constexpr size_t kAhead = 16;

struct Parsed {
  PacketKind kind;
  uint32_t hash;
  Packet packet;
};

bool same_flow(const Parsed& left, const Parsed& right) {
  return left.hash == right.hash && left.kind == right.kind &&
         left.packet.source_port == right.packet.source_port &&
         left.packet.destination_port == right.packet.destination_port;
}

/// Whether `next` goes on where what the flow has received ends, so that its acknowledgment covers
/// both.
bool goes_on(const Flow& flow, const Packet& next) {
  return next.payload_length != 0 && tcp::parse_segment(next).sequence == flow.rcv_nxt;
}

FlowKey key_of(const Packet& packet, bool datagram) {
  return {packet.source, packet.destination, packet.source_port, packet.destination_port, datagram};
}

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

void DataCore::receive(Side side, std::span<const Frame> frames, Nanoseconds now) {
  World& world = *world_;
  world.context.set_time(now);
  if (!world.service.enabled && !world.service.filtered) [[likely]] {
    world.receive_for_flows(side, frames);
    return;
  }
  while (!frames.empty()) {
    const auto end = std::ranges::find_if(
        frames, [&world](const Frame& frame) { return is_for_service(world.service, frame); });
    const auto count = static_cast<size_t>(end - frames.begin());
    world.receive_for_flows(side, frames.first(count));
    if (count == frames.size()) break;
    world.receive_beside_flows(side, *end);
    frames = frames.subspan(count + 1);
  }
}

/// The slow path.
void DataCore::World::receive_beside_flows(Side side, const Frame& frame) {
  CounterBlock& counters = table_counters[index_of(side)];
  ++counters[Counter::err_no_tcp_udp];
  ++counters[Counter::redirect_rx_ok];
  if (!latency_streams[index_of(side)].receive(frame, context.now) &&
      !responders[index_of(side)].receive(frame, context.now))
    ++drops[index_of(side)][Drop::unknown_protocol];
}

void DataCore::World::receive_for_flows(Side side, std::span<const Frame> frames) {
  CounterBlock& counters = table_counters[index_of(side)];
  FlowTable& table = context.tables[index_of(side)];
  Parsed parsed[kAhead];
  for (size_t from = 0; from < frames.size(); from += kAhead) {
    const size_t count = std::min(kAhead, frames.size() - from);
    for (size_t i = 0; i < count; ++i) {
      Parsed& p = parsed[i];
      p.kind = parse_packet(frames[from + i], p.packet);
      if (p.kind != PacketKind::tcp && p.kind != PacketKind::udp) continue;
      p.hash = table.hash(key_of(p.packet, p.kind == PacketKind::udp));
      table.prefetch(p.hash);
    }
    for (size_t i = 0; i < count; ++i) {
      const Parsed& p = parsed[i];
      if (p.kind != PacketKind::tcp && p.kind != PacketKind::udp) continue;
      context.prefetch(table.first(p.hash));
    }
    for (size_t i = 0; i < count; ++i) {
      const Parsed& p = parsed[i];
      const Frame& frame = frames[from + i];
      switch (p.kind) {
        case PacketKind::tcp:
          receive_tcp(side, frame, p.packet, p.hash,
                      p.packet.payload_length != 0 && i + 1 < count && same_flow(p, parsed[i + 1])
                          ? &parsed[i + 1].packet
                          : nullptr);
          break;
        case PacketKind::udp:
          receive_udp(side, frame, p.packet, p.hash);
          break;
        case PacketKind::other:
          receive_beside_flows(side, frame);
          break;
        default:
          // A damaged frame of the latency stream is the stream's to count.
          if (!latency_streams[index_of(side)].receive(frame, context.now))
            ++counters[reason_of(p.kind)];
          break;
      }
    }
  }
}

Flow* DataCore::World::new_server_flow(const Frame& frame, const Packet& packet, uint32_t hash,
                                       bool tcp, bool& refused) {
  CounterBlock& counters = table_counters[index_of(Side::server)];
  const uint16_t port = packet.destination_port;
  const uint32_t address = packet.destination.low32();
  const uint32_t undecided = servers.find_undecided(tcp, port, address);
  uint32_t number = ServerTable::kNone;
  if (undecided == ServerTable::kNone)
    number = servers.find(tcp, port, address);
  else if (!tcp)
    number = servers.choose(tcp, port, address, {packet.payload, packet.payload_at_hand});
  else
    number = take_undecided(undecided);
  if (number == ServerTable::kNone) {
    ++counters[Counter::err_no_template];
    refused = true;
    return nullptr;
  }
  const TemplateClass& shared = class_at(number);
  const uint16_t path = shared.tunables->dont_use_inbound_mac
                            ? PathTable::kPort
                            : context.paths[index_of(Side::server)].intern(reply_path(frame));
  Flow* flow = make_flow(key_of(packet, !tcp), hash, number, path, Side::server,
                         shared.program->uses_variables);
  if (flow == nullptr) ++counters[Counter::err_s_nf_throttled];
  if (shared.undecided == nullptr) return flow;
  if (flow == nullptr) {
    give_back_undecided(*shared.undecided);
  } else {
    flow->wait = Wait::template_choice;
    ++counters[Counter::defer_template];
  }
  return flow;
}

/// Refuses an accepted connection whose first payload is of no template.
void DataCore::World::refuse_undecided(Flow& flow) {
  if (stray_tunables.blackhole == 0) tcp::abort(context, flow);
  release(flow);
}

void DataCore::World::refuse(Side side, const Frame& frame, const Packet& packet,
                             const tcp::Segment& segment) {
  CounterBlock& counters = table_counters[index_of(side)];
  const Path back = reply_path(frame);
  if (ignored.has(back.destination)) {
    ++counters[Counter::ignored_macs];
  } else if (ignored.has(packet.source.low32())) {
    ++counters[Counter::ignored_ips];
  } else {
    tcp::refuse(context, side, packet, segment, back, stray_tunables);
  }
}

void DataCore::World::receive_tcp(Side side, const Frame& frame, const Packet& packet,
                                  uint32_t hash, const Packet* next) {
  if (runs.empty()) {
    ++drops[index_of(side)][Drop::idle];
    return;
  }
  FlowTable& table = context.tables[index_of(side)];
  const tcp::Segment segment = tcp::parse_segment(packet);
  Flow* flow = table.find(key_of(packet, false), hash);
  if (flow != nullptr && cut_instead(*flow)) return;
  if (flow != nullptr && flow->state == FlowState::time_wait && segment.is(tcp::kSyn) &&
      !segment.is(tcp::kAck) && after(segment.sequence, flow->rcv_nxt)) {
    release(*flow);  // a new connection from the same port, RFC 9293 section 3.6.1
    flow = nullptr;
  }
  if (flow != nullptr) {
    const bool waiting = flow->wait == Wait::template_choice;
    if (waiting && packet.payload_length != 0 && segment.sequence == flow->rcv_nxt &&
        !choose_template(*flow, packet)) {
      refuse_undecided(*flow);
      return;
    }
    if (packet.payload_length != 0 && class_of(*flow).payload_check != nullptr) [[unlikely]]
      check_payload(*flow, segment, packet);
    const bool begins = waiting && flow->wait == Wait::nothing && flow->has(kEverEstablished);
    tcp::Events events = tcp::receive(context, *flow, segment, packet.traffic_class);
    if (begins) events |= tcp::kEstablished;
    if (flow->wait == Wait::template_choice && (events & tcp::kPeerClosed) != 0) {
      ++table_counters[index_of(side)][Counter::err_defer_no_template];
      refuse_undecided(*flow);  // it will never say what it wants
      return;
    }
    // More of an in-order run is at hand: one answer to all of it, as a kernel gives to segments
    // that it has put together (GRO). Fewer frames for both ends.
    const bool run_goes_on = next != nullptr && (events & tcp::kDelivered) != 0 &&
                             flow->extension == Flow::kNone && goes_on(*flow, *next);
    after_events(*flow, events, run_goes_on);
    return;
  }
  CounterBlock& counters = table_counters[index_of(side)];
  if (side == Side::client) {
    ++counters[Counter::err_cwf];
    if (stray_tunables.blackhole == 0) refuse(side, frame, packet, segment);
    return;
  }
  if (!segment.is(tcp::kSyn) || segment.is(tcp::kAck) || segment.is(tcp::kRst)) {
    ++counters[Counter::err_no_syn];
    if (stray_tunables.blackhole != 2) refuse(side, frame, packet, segment);
    return;
  }
  bool refused = false;
  flow = new_server_flow(frame, packet, hash, true, refused);
  if (flow != nullptr)
    tcp::accept(context, *flow, segment, hash);
  else if (refused && stray_tunables.blackhole == 0)
    refuse(side, frame, packet, segment);
}

void DataCore::World::receive_udp(Side side, const Frame& frame, const Packet& packet,
                                  uint32_t hash) {
  if (runs.empty()) {
    ++drops[index_of(side)][Drop::idle];
    return;
  }
  Flow* flow = context.tables[index_of(side)].find(key_of(packet, true), hash);
  if (flow != nullptr && cut_instead(*flow)) return;
  if (flow == nullptr) {
    if (side == Side::client) {
      ++table_counters[index_of(side)][Counter::err_cwf];
      return;
    }
    bool refused = false;
    flow = new_server_flow(frame, packet, hash, false, refused);
    if (flow == nullptr) return;
    udp::open(context, *flow);
    ++run_of(*flow).established;
    if (class_of(*flow).payload_check != nullptr) check_datagram(*flow, packet);
    udp::receive(context, *flow, packet);
    // The first datagram counts before the program begins, so a first rx_msg may find it.
    const uint64_t datagrams = flow->rx_available;
    if (program::start(context, *flow, datagrams) == program::Outcome::release) release(*flow);
    return;
  }
  if (class_of(*flow).payload_check != nullptr) [[unlikely]]
    check_datagram(*flow, packet);
  udp::receive(context, *flow, packet);
  if (program::wake(context, *flow, tcp::kDelivered) == program::Outcome::release) release(*flow);
}

}  // namespace engine
