// A frame's way, from a burst that is received to one that is sent: it is parsed, its flow is
// looked up, TCP takes the segment, the program acts upon what happened, and TCP sends what is due.
// What is answered to a packet without a flow is as in TRex (src/44bsd/flow_table.cpp).

#include "astf/flow_driver.h"

#include <algorithm>

#include "flow/latency.h"
#include "program/interpreter.h"
#include "udp/udp.h"

namespace engine {

namespace {

/// Frames parsed ahead, so that a flow's cache lines are on their way before it is touched.
constexpr size_t kAhead = 16;

struct Parsed {
  PacketKind kind;
  uint32_t hash;
  Packet packet;

  bool has_flow() const { return kind == PacketKind::tcp || kind == PacketKind::udp; }
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

// -- from the burst to the flow ------------------------------------------------------------------

void FlowDriver::receive(Side side, std::span<const Frame> frames) {
  if (!service.enabled && !service.filtered) [[likely]] {
    receive_for_flows(side, frames);
    return;
  }
  while (!frames.empty()) {
    const auto end = std::ranges::find_if(
        frames, [this](const Frame& frame) { return is_for_service(service, frame); });
    const auto count = static_cast<size_t>(end - frames.begin());
    receive_for_flows(side, frames.first(count));
    if (count == frames.size()) break;
    parts_.slow_path.receive(side, *end, parts_.context.now);
    frames = frames.subspan(count + 1);
  }
}

void FlowDriver::receive_for_flows(Side side, std::span<const Frame> frames) {
  Context& context = parts_.context;
  const FlowTable& table = context.tables[index_of(side)];
  Parsed parsed[kAhead];
  for (size_t from = 0; from < frames.size(); from += kAhead) {
    const size_t count = std::min(kAhead, frames.size() - from);
    for (size_t i = 0; i < count; ++i) {
      Parsed& p = parsed[i];
      p.kind = parse_packet(frames[from + i], p.packet);
      if (!p.has_flow()) continue;
      p.hash = table.hash(key_of(p.packet, p.kind == PacketKind::udp));
      table.prefetch(p.hash);
    }
    for (size_t i = 0; i < count; ++i)
      if (parsed[i].has_flow()) context.prefetch(table.first(parsed[i].hash));
    for (size_t i = 0; i < count; ++i) {
      const Parsed& p = parsed[i];
      const Frame& frame = frames[from + i];
      if (p.kind == PacketKind::tcp) [[likely]] {
        const bool followed =
            p.packet.payload_length != 0 && i + 1 < count && same_flow(p, parsed[i + 1]);
        receive_tcp(side, frame, p.packet, p.hash, followed ? &parsed[i + 1].packet : nullptr);
      } else if (p.kind == PacketKind::udp) {
        receive_udp(side, frame, p.packet, p.hash);
      } else if (p.kind == PacketKind::other) {
        parts_.slow_path.receive(side, frame, context.now);
      } else if (!parts_.slow_path.latency_streams[index_of(side)].receive(frame, context.now)) {
        // A damaged frame of the latency stream is the stream's to count.
        ++parts_.counts.of(side)[reason_of(p.kind)];
      }
    }
  }
}

void FlowDriver::receive_tcp(Side side, const Frame& frame, const Packet& packet, uint32_t hash,
                             const Packet* next) {
  Context& context = parts_.context;
  if (parts_.runs.empty()) {
    ++parts_.counts.dropped(side)[Drop::idle];
    return;
  }
  const tcp::Segment segment = tcp::parse_segment(packet);
  const uint32_t entry = context.tables[index_of(side)].find(key_of(packet, false), hash);
  Flow* flow = nullptr;
  if (FlowTable::is_flow(entry)) [[likely]]
    flow = &context.flows[entry];
  else if (entry != FlowTable::kNone)
    flow = &parts_.flows.restore(FlowTable::wait_of(entry));
  if (flow != nullptr && parts_.flows.cut_instead(*flow)) return;
  if (flow != nullptr && flow->state == FlowState::time_wait && segment.is(tcp::kSyn) &&
      !segment.is(tcp::kAck) && after(segment.sequence, flow->rcv_nxt)) {
    parts_.flows.release(*flow);  // a new connection from the same port, RFC 9293 section 3.6.1
    flow = nullptr;
  }
  if (flow != nullptr)
    take_segment(*flow, packet, segment, next);
  else
    take_stray(side, frame, packet, segment, hash);
}

// -- from the flow to the burst that is sent -----------------------------------------------------

void FlowDriver::take_segment(Flow& flow, const Packet& packet, const tcp::Segment& segment,
                              const Packet* next) {
  Context& context = parts_.context;
  const bool undecided = flow.wait == Wait::template_choice;
  if (undecided && packet.payload_length != 0 && segment.sequence == flow.rcv_nxt &&
      !parts_.listeners.choose(flow, packet)) {
    refuse_undecided(flow);
    return;
  }
  if (packet.payload_length != 0)
    if (PayloadCheck* const check = parts_.classes.of(flow).payload_check) [[unlikely]]
      check_payload(context, *check, flow, segment, packet);
  const bool begins = undecided && flow.wait == Wait::nothing && flow.has(kEverEstablished);
  tcp::Events events = tcp::receive(context, flow, segment, packet.traffic_class);
  if (begins) events |= tcp::kEstablished;
  if (flow.wait == Wait::template_choice && (events & tcp::kPeerClosed) != 0) {
    refuse_undecided(flow);  // it will never say what it wants
    return;
  }
  // More of an in-order run is at hand: one answer to all of it, as a kernel gives to segments that
  // it has put together (GRO). Fewer frames for both ends.
  const bool run_goes_on = next != nullptr && (events & tcp::kDelivered) != 0 &&
                           flow.extension == Flow::kNone && goes_on(flow, *next);
  finish(flow, events, run_goes_on);
}

void FlowDriver::expire(Flow& flow, TimerKind kind) {
  Context& context = parts_.context;
  if (parts_.flows.cut_instead(flow)) return;
  if (kind != TimerKind::program && flow.state != FlowState::datagram) {
    finish(flow, tcp::expire(context, flow, kind), false);
    return;
  }
  if (kind != TimerKind::program) {
    ++(*context.class_of(flow).counters)[Counter::udps_keepdrops];
    parts_.flows.release(flow);
    return;
  }
  if (flow.wait == Wait::execution) {
    parts_.opener.execute(flow);
    return;
  }
  if (program::wake_from_delay(context, flow) == program::Outcome::release)
    parts_.flows.release(flow);
  else if (flow.state != FlowState::datagram)
    tcp::transmit(context, flow);
}

inline void FlowDriver::finish(Flow& flow, tcp::Events events, bool answered_later) {
  Context& context = parts_.context;
  if ((events & tcp::kGone) != 0) {
    parts_.flows.release(flow);
    return;
  }
  if (events != tcp::kNothing) {
    if ((events & tcp::kDelivered) != 0 && !flow.has(kServerSide))
      latency::record_payload(context, flow);
    program::Outcome outcome;
    if ((events & tcp::kEstablished) != 0 && flow.wait != Wait::template_choice) {
      ProfileRun& run = *parts_.classes.of(flow).run;
      ++run.established;
      if (run.samples_flows()) run.watch.established(context, flow);
      if (!flow.has(kServerSide)) latency::record(context, flow, LatencyKind::connect);
      outcome = flow.has(kServerSide) ? program::start(context, flow, flow.rx_available)
                                      : program::wake(context, flow, events);
    } else {
      outcome = program::wake(context, flow, events);
    }
    if (outcome == program::Outcome::release) {
      parts_.flows.release(flow);
      return;
    }
  }
  if (!answered_later) tcp::transmit(context, flow);
  if (tcp::begins_time_wait(flow)) parts_.flows.begin_time_wait(flow);
}

// -- what belongs to no flow yet -----------------------------------------------------------------

void FlowDriver::take_stray(Side side, const Frame& frame, const Packet& packet,
                            const tcp::Segment& segment, uint32_t hash) {
  CounterBlock& counters = parts_.counts.of(side);
  const auto blackhole = parts_.strays.tunables.blackhole;
  if (side == Side::client) {
    ++counters[Counter::err_cwf];
    if (blackhole == 0) parts_.strays.refuse(side, frame, packet, segment);
    return;
  }
  if (!segment.is(tcp::kSyn) || segment.is(tcp::kAck) || segment.is(tcp::kRst)) {
    ++counters[Counter::err_no_syn];
    if (blackhole != 2) parts_.strays.refuse(side, frame, packet, segment);
    return;
  }
  const uint32_t number = parts_.listeners.find(packet, true);
  if (number == Listeners::kNone) {
    ++counters[Counter::err_no_template];
    if (blackhole == 0) parts_.strays.refuse(side, frame, packet, segment);
    return;
  }
  if (Flow* const flow = accept(frame, packet, hash, number))
    tcp::accept(parts_.context, *flow, segment, hash);
}

Flow* FlowDriver::accept(const Frame& frame, const Packet& packet, uint32_t hash,
                         uint32_t flow_class) {
  Context& context = parts_.context;
  CounterBlock& counters = parts_.counts.of(Side::server);
  const TemplateClass& shared = parts_.classes[flow_class];
  const Program& program = *shared.program;
  const uint16_t path = shared.tunables->dont_use_inbound_mac
                            ? PathTable::kPort
                            : context.paths[index_of(Side::server)].intern(reply_path(frame));
  Flow* const flow = parts_.flows.make(key_of(packet, !program.stream), hash, flow_class, path,
                                       Side::server, program.uses_variables);
  if (flow == nullptr) {
    ++counters[Counter::err_s_nf_throttled];
    parts_.listeners.give_back(flow_class);
  } else if (shared.undecided != nullptr) {
    flow->wait = Wait::template_choice;
    ++counters[Counter::defer_template];
  }
  return flow;
}

void FlowDriver::refuse_undecided(Flow& flow) {
  ++parts_.counts.of(Side::server)[Counter::err_defer_no_template];
  if (parts_.strays.tunables.blackhole == 0) tcp::abort(parts_.context, flow);
  parts_.flows.release(flow);
}

// -- UDP -----------------------------------------------------------------------------------------

void FlowDriver::receive_udp(Side side, const Frame& frame, const Packet& packet, uint32_t hash) {
  Context& context = parts_.context;
  if (parts_.runs.empty()) {
    ++parts_.counts.dropped(side)[Drop::idle];
    return;
  }
  const uint32_t entry = context.tables[index_of(side)].find(key_of(packet, true), hash);
  Flow* flow = FlowTable::is_flow(entry) ? &context.flows[entry] : nullptr;
  if (flow != nullptr && parts_.flows.cut_instead(*flow)) return;
  const bool begins = flow == nullptr;
  if (begins) {
    if (side == Side::client) {
      ++parts_.counts.of(side)[Counter::err_cwf];
      return;
    }
    const uint32_t number = parts_.listeners.find(packet, false);
    if (number == Listeners::kNone) {
      ++parts_.counts.of(side)[Counter::err_no_template];
      return;
    }
    flow = accept(frame, packet, hash, number);
    if (flow == nullptr) return;
    udp::open(context, *flow);
    ++parts_.classes.of(*flow).run->established;
  }
  if (PayloadCheck* const check = parts_.classes.of(*flow).payload_check) [[unlikely]]
    check_datagram(context, *check, *flow, packet);
  udp::receive(context, *flow, packet);
  // The first datagram counts before the program begins, so a first rx_msg may find it.
  const program::Outcome outcome = begins ? program::start(context, *flow, flow->rx_available)
                                          : program::wake(context, *flow, tcp::kDelivered);
  if (outcome == program::Outcome::release) parts_.flows.release(*flow);
}

}  // namespace engine
