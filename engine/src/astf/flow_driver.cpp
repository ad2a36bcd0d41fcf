// A frame from the burst that is received to the one that is sent: it is parsed, its flow is looked
// up, TCP processes the segment, the program acts upon what happened, and TCP sends what is due.
// What is answered to a packet without a flow is as in TRex (src/44bsd/flow_table.cpp).

#include "astf/flow_driver.h"

#include <algorithm>

#include "flow/latency.h"
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

/// Has no packet take the fast path, where flows may be about to be aborted, and keeps those from
/// flows that service mode is for.
[[gnu::noinline]] void divert(std::span<RxPacket> packets, const ServiceMode& service) {
  for (RxPacket& p : packets) {
    p.fast = FastPath::no;
    if (is_for_service(service, p)) p.kind = PacketKind::other;
  }
}

}  // namespace

// -- from the burst to the flow ------------------------------------------------------------------

void FlowDriver::receive(Side side, std::span<const Frame> frames) {
  while (!frames.empty()) {
    const std::span<const Frame> some = frames.first(std::min(RxBurst::kMost, frames.size()));
    const std::span<RxPacket> packets =
        burst_.parse(parts_.context, parts_.context.tables[index_of(side)], some);
    if (parts_.flows.aborting() || service.enabled || service.filtered) [[unlikely]]
      divert(packets, service);
    process(side, packets);
    frames = frames.subspan(some.size());
  }
}

[[gnu::noinline]] void FlowDriver::process(Side side, std::span<const RxPacket> packets) {
  Context& context = parts_.context;
  const RxPacket* const end = packets.data() + packets.size();
  for (const RxPacket* p = packets.data(); p != end; ++p) {
    if (p->kind == PacketKind::tcp) [[likely]]
      process_segment(context, side, *p, end);
    else
      process_other(side, *p);
  }
}

// The flow that its burst found for it may have ended meanwhile: then it has no fast path. It
// has not become another one with the same addresses: no flow of the other side begins while one
// side's frames are processed.
inline void FlowDriver::process_segment(Context& context, Side side, const RxPacket& p,
                                        const RxPacket* end) {
  Flow* found = p.flow;
  if (found == nullptr || !p.is_for(*found)) [[unlikely]]
    found = p.fast == FastPath::no ? nullptr : find_flow(side, p);
  FlowClass* of_flow = nullptr;
  tcp::Events events = tcp::kNotFast;
  if (found != nullptr && tcp::takes_fast_path(*found, p)) [[likely]] {
    of_flow = &context.class_of(*found);
    events = tcp::receive_fast(context, *of_flow, *found, p);
  }
  if (events == tcp::kNotFast) [[unlikely]] {
    const SlowPath slow = process_slow_path(side, p, found);
    if (slow.flow == nullptr) return;
    found = slow.flow;
    events = slow.events;
    of_flow = &context.class_of(*found);
  }
  Flow& flow = *found;
  auto& template_side = static_cast<TemplateClass&>(*of_flow);  // see Classes
  if ((events & tcp::kGone) != 0) {
    parts_.flows.release(flow, p.hash);
    return;
  }
  bool wakes = program::wakes(flow, events);
  if ((events & tcp::kDelivered) != 0) latency::record_payload(context, template_side, flow);
  if ((events & tcp::kEstablished) != 0 && flow.wait != Wait::template_choice) {
    template_side.run->count_established(context, flow);
    if (flow.has(kServerSide)) {
      program::begin(flow, flow.rx_available);
      wakes = true;
    } else {
      latency::record(context, template_side, flow, LatencyKind::connect);
    }
  }
  if (wakes) {
    if (flow.wait == Wait::template_choice) [[unlikely]] {
      refuse_undecided(flow);
      return;
    }
    if (program::proceed(context, template_side, flow) == program::Outcome::release) {
      parts_.flows.release(flow, p.hash);
      return;
    }
  }
  if ((events & tcp::kDelivered) == 0 || !goes_on(flow, p, end))
    tcp::transmit(context, template_side, flow);
  if (tcp::begins_time_wait(flow)) parts_.flows.begin_time_wait(flow, p.hash);
}

/// Whether the packet behind `p`, of those before `end`, goes on where what the flow has received
/// by `p` ends. Then more of an in-order run is at hand: one answer to all of it, as a kernel gives
/// to segments that it has put together (GRO). Fewer frames for both ends.
inline bool FlowDriver::goes_on(const Flow& flow, const RxPacket& p, const RxPacket* end) {
  const RxPacket* const next = &p + 1;
  return next != end && next->hash == p.hash && next->kind == PacketKind::tcp &&
         next->ports() == p.ports() && flow.extension == Flow::kNone && next->payload_length != 0 &&
         next->sequence() == flow.rcv_nxt;
}

// Never inlined, as are all that are not the fast path's: as part of that they would take registers
// from it.
[[gnu::noinline]] FlowDriver::SlowPath FlowDriver::process_slow_path(Side side, const RxPacket& p,
                                                                     Flow* flow) {
  // What was found may have ended since its packet was parsed.
  if (flow == nullptr || flow->state <= FlowState::datagram) flow = look_up(side, p);
  if (flow != nullptr && parts_.flows.abort_instead(*flow)) return {};
  if (flow != nullptr && flow->state == FlowState::time_wait && p.is(tcp::kSyn) &&
      tcp::gives_way(parts_.context, *flow, p)) {
    parts_.flows.release(*flow);  // a new connection from the same port
    flow = nullptr;
  }
  if (flow == nullptr) {
    process_unmatched(side, p);
    return {};
  }
  tcp::Events events = tcp::kNothing;
  if (p.payload_length != 0 && flow->wait == Wait::template_choice && !decide(*flow, p, events))
    return {};
  TemplateClass& template_side = parts_.classes.of(*flow);
  if (template_side.tls() != nullptr) {
    PlaintextCheck check(parts_.context, template_side.payload_check);
    return {flow, template_side.tls()->receive(parts_.context, *flow, p, check.reader())};
  }
  const uint32_t expected = flow->rcv_nxt;
  events |= tcp::receive_slow_path(parts_.context, template_side, *flow, p);
  if ((events & tcp::kTaken) != 0 && template_side.payload_check != nullptr) [[unlikely]]
    check_payload(parts_.context, *template_side.payload_check, *flow, p, expected);
  return {flow, events};
}

[[gnu::always_inline]] inline Flow* FlowDriver::look_up(Side side, const RxPacket& p) {
  Context& context = parts_.context;
  const FlowTable& table = context.tables[index_of(side)];
  const uint32_t entry =
      p.ipv4 ? table.find_v4(p.addresses_v4(), p.ports(), p.hash) : table.find(p.key(), p.hash);
  if (FlowTable::is_flow(entry)) return &context.flows[entry];
  return entry == FlowTable::kNone ? nullptr : &parts_.flows.restore(FlowTable::wait_of(entry));
}

[[gnu::noinline]] Flow* FlowDriver::find_flow(Side side, const RxPacket& p) {
  return look_up(side, p);
}

bool FlowDriver::decide(Flow& flow, const RxPacket& p, tcp::Events& events) {
  if (p.sequence() != flow.rcv_nxt) return true;
  if (!parts_.listeners.choose(flow, p)) {
    refuse_undecided(flow);
    return false;
  }
  if (flow.has(kEverEstablished)) events = tcp::kEstablished;  // its program begins now
  return true;
}

void FlowDriver::expire(Flow& flow, TimerKind kind) {
  Context& context = parts_.context;
  if (parts_.flows.abort_instead(flow)) return;
  if (kind != TimerKind::program && flow.state != FlowState::datagram) {
    if (tcp::expire(context, flow, kind) == tcp::kGone) {
      parts_.flows.release(flow);
      return;
    }
    tcp::transmit_slow_path(context, flow);
    if (tcp::begins_time_wait(flow)) parts_.flows.begin_time_wait(flow);
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
  const program::Outcome outcome = program::wake_from_delay(context, flow);
  if (outcome != program::Outcome::goes_on) {
    if (outcome == program::Outcome::endless)
      ++parts_.counts.dropped(Context::side_of(flow))[Drop::endless_program];
    parts_.flows.release(flow);
  } else if (flow.state != FlowState::datagram) {
    tcp::transmit_slow_path(context, flow);
  }
}

// -- handshakes of TLS ---------------------------------------------------------------------------

// Of several runs, each in turn.
bool FlowDriver::begin_handshake_step() {
  for (size_t tried = 0; tried < parts_.runs.size(); ++tried) {
    tls::TlsCore* const tls_core = parts_.runs[next_run_++ % parts_.runs.size()]->tls_core();
    if (tls_core == nullptr) continue;
    while (const std::optional<tls::TlsCore::Due> due = tls_core->take_due()) {
      Flow& flow = parts_.context.flows[due->flow];
      if (parts_.flows.abort_instead(flow)) continue;
      due->endpoint->begin_step(parts_.context, flow);
      steps_ = &flow;
      return true;
    }
  }
  return false;
}

void FlowDriver::end_handshake_step() {
  Context& context = parts_.context;
  Flow& flow = *steps_;
  TemplateClass& template_side = parts_.classes.of(flow);
  PlaintextCheck check(context, template_side.payload_check);
  const tcp::Events events = template_side.tls()->end_step(context, flow, check.reader());
  if ((events & tcp::kDelivered) != 0) latency::record_payload(context, template_side, flow);
  if ((events & tcp::kEstablished) != 0) {
    template_side.run->count_established(context, flow);
    latency::record(context, template_side, flow, LatencyKind::tls_handshake);
  }
  const bool begins = (events & tcp::kEstablished) != 0 && flow.has(kServerSide);
  const program::Outcome outcome = begins ? program::start(context, flow, flow.rx_available)
                                          : program::wake(context, flow, events);
  if (outcome == program::Outcome::release) {
    parts_.flows.release(flow);
    return;
  }
  tcp::transmit_slow_path(context, flow);
  if (tcp::begins_time_wait(flow)) parts_.flows.begin_time_wait(flow);
}

// -- what belongs to no flow yet -----------------------------------------------------------------

void FlowDriver::process_unmatched(Side side, const RxPacket& p) {
  if (parts_.runs.empty()) {
    ++parts_.counts.dropped(side)[Drop::idle];
    return;
  }
  CounterBlock& counters = parts_.counts.of(side);
  Unmatched& unmatched = parts_.unmatched;
  const auto blackhole = unmatched.tunables.blackhole;
  if (side == Side::client) {
    ++counters[Counter::err_cwf];
    if (blackhole == 0) unmatched.reset(side, p);
    return;
  }
  if ((p.flags() & (tcp::kSyn | tcp::kAck | tcp::kRst)) != tcp::kSyn) {
    ++counters[Counter::err_no_syn];
    if (blackhole != 2) unmatched.reset(side, p);
    return;
  }
  const uint32_t number = parts_.listeners.find_tcp(p.destination_port(), p.destination().low32());
  if (number == Listeners::kNone) {
    ++counters[Counter::err_no_template];
    if (blackhole == 0) unmatched.reset(side, p);
    return;
  }
  TemplateClass& template_side = parts_.classes[number];
  if (Flow* const flow = accept(p, number, template_side))
    tcp::accept(parts_.context, template_side, *flow, p, p.hash);
}

[[gnu::always_inline]] inline Flow* FlowDriver::accept(const RxPacket& p, uint32_t flow_class,
                                                       TemplateClass& template_side) {
  Context& context = parts_.context;
  L2HeaderTable& l2_headers = context.l2_headers[index_of(Side::server)];
  uint16_t l2_header = L2HeaderTable::kPort;
  if (!template_side.tunables->dont_use_inbound_mac) [[likely]]
    l2_header = l2_headers.last_answers(p.frame->head) ? l2_headers.last()
                                                       : l2_headers.intern(reply_header(*p.frame));
  Flow* const flow = parts_.flows.make(p.key(), p.hash, flow_class, template_side, l2_header,
                                       Side::server, template_side.program->uses_variables);
  if (flow == nullptr) [[unlikely]] {
    ++parts_.counts.of(Side::server)[Counter::err_s_nf_throttled];
    parts_.listeners.give_back(flow_class);
  } else if (template_side.undecided != nullptr) [[unlikely]] {
    flow->wait = Wait::template_choice;
    ++parts_.counts.of(Side::server)[Counter::defer_template];
  }
  return flow;
}

void FlowDriver::refuse_undecided(Flow& flow) {
  ++parts_.counts.of(Side::server)[Counter::err_defer_no_template];
  if (parts_.unmatched.tunables.blackhole == 0) tcp::abort(parts_.context, flow);
  parts_.flows.release(flow);
}

// -- what is no TCP ------------------------------------------------------------------------------

[[gnu::noinline]] void FlowDriver::process_other(Side side, const RxPacket& p) {
  const Nanoseconds now = parts_.context.now;
  if (p.kind == PacketKind::udp) {
    process_udp(side, p);
  } else if (is_too_long_message(p)) {
    process_path_mtu(side, p);
  } else if (p.kind == PacketKind::other) {
    parts_.port_services.receive(side, p, now);
  } else if (!parts_.port_services.latency_streams[index_of(side)].receive(p, now)) {
    // A damaged frame of the latency stream is the stream's to count.
    ++parts_.counts.of(side)[reason_of(p.kind)];
  }
}

// A connection in TIME_WAIT has nothing in flight.
Flow* FlowDriver::sender_of(Side side, const TooLongPacket& packet) {
  const FlowTable& table = parts_.context.tables[index_of(side)];
  const FlowKey key{packet.destination, packet.source, packet.destination_port, packet.source_port,
                    false};
  const uint32_t entry = table.find(key, table.hash(key));
  return FlowTable::is_flow(entry) ? &parts_.context.flows[entry] : nullptr;
}

void FlowDriver::process_path_mtu(Side side, const RxPacket& p) {
  Context& context = parts_.context;
  const std::optional<TooLongPacket> sent = read_too_long_message(p);
  Flow* const flow = sent ? sender_of(side, *sent) : nullptr;
  if (flow != nullptr && parts_.flows.abort_instead(*flow)) return;
  const tcp::PathMtu outcome =
      flow == nullptr ? tcp::PathMtu::refused
                      : tcp::process_path_mtu(context, *flow, sent->sequence, sent->mtu);
  if (outcome == tcp::PathMtu::refused) {
    ++parts_.counts.dropped(side)[Drop::path_mtu_refused];
    return;
  }
  parts_.counts.path_mtu[index_of(side)].add(sent->mtu);
  if (outcome == tcp::PathMtu::lowered) tcp::transmit_slow_path(context, *flow);
}

void FlowDriver::process_udp(Side side, const RxPacket& p) {
  Context& context = parts_.context;
  if (parts_.runs.empty()) {
    ++parts_.counts.dropped(side)[Drop::idle];
    return;
  }
  const uint32_t entry = context.tables[index_of(side)].find(p.key(), p.hash);
  Flow* flow = FlowTable::is_flow(entry) ? &context.flows[entry] : nullptr;
  if (flow != nullptr && parts_.flows.abort_instead(*flow)) return;
  const bool begins = flow == nullptr;
  if (begins) {
    if (side == Side::client) {
      ++parts_.counts.of(side)[Counter::err_cwf];
      return;
    }
    const uint32_t number = parts_.listeners.find_udp(p);
    if (number == Listeners::kNone) {
      ++parts_.counts.of(side)[Counter::err_no_template];
      return;
    }
    flow = accept(p, number, parts_.classes[number]);
    if (flow == nullptr) return;
    udp::open(context, *flow);
    ++parts_.classes.of(*flow).run->established;
  }
  if (PayloadCheck* const check = parts_.classes.of(*flow).payload_check) [[unlikely]]
    check_datagram(context, *check, *flow, p);
  udp::receive(context, *flow, p);
  // The first datagram counts before the program begins, so a first rx_msg may find it.
  const program::Outcome outcome = begins ? program::start(context, *flow, flow->rx_available)
                                          : program::wake(context, *flow, tcp::kDelivered);
  if (outcome == program::Outcome::release) parts_.flows.release(*flow);
}

}  // namespace engine
