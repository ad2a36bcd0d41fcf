// A frame's way, from a burst that is received to one that is sent: it is parsed, its flow is
// looked up, TCP takes the segment, the program acts upon what happened, and TCP sends what is due.
// What is answered to a packet without a flow is as in TRex (src/44bsd/flow_table.cpp).

#include "astf/flow_driver.h"

#include <algorithm>

#include "flow/latency.h"
#include "net/usual_packet.h"
#include "program/interpreter.h"
#include "tcp/plain.h"
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
    receive_slowly(side, *end);
    frames = frames.subspan(count + 1);
  }
}

void FlowDriver::receive_for_flows(Side side, std::span<const Frame> frames) {
  while (!frames.empty()) {
    const std::span<const Frame> some = frames.first(std::min(Arrivals::kMost, frames.size()));
    const std::span<Arrival> arrivals =
        arrivals_.parse(parts_.context, parts_.context.tables[index_of(side)], some);
    if (parts_.flows.cutting()) [[unlikely]]
      take_while_cutting(side, some.data(), arrivals);
    else
      take(side, some.data(), arrivals);
    frames = frames.subspan(some.size());
  }
}

[[gnu::noinline]] void FlowDriver::take(Side side, const Frame* frame,
                                        std::span<Arrival> arrivals) {
  const Arrival* const end = arrivals.data() + arrivals.size();
  for (Arrival* arrival = arrivals.data(); arrival != end; ++arrival, ++frame) {
    if (arrival->form <= Arrival::Form::syn) [[likely]]
      receive_plain<true>(side, *frame, *arrival, end);
    else if (arrival->form != Arrival::Form::other)
      receive_unstamped(side, *frame, *arrival, end);
    else if (arrival->kind == PacketKind::tcp)
      receive_generally(side, *frame, *arrival, end);
    else
      receive_other(side, *frame, *arrival);
  }
}

// While flows are cut, none takes the plain way.
[[gnu::noinline]] void FlowDriver::take_while_cutting(Side side, const Frame* frame,
                                                      std::span<Arrival> arrivals) {
  const Arrival* const end = arrivals.data() + arrivals.size();
  for (Arrival& arrival : arrivals) {
    if (arrival.is_tcp())
      receive_generally(side, *frame++, arrival, end);
    else
      receive_other(side, *frame++, arrival);
  }
}

// A function by itself: in one piece with the plain way it would take registers from that.
[[gnu::noinline]] void FlowDriver::receive_other(Side side, const Frame& frame, const Arrival& p) {
  const Nanoseconds now = parts_.context.now;
  if (p.kind == PacketKind::udp) {
    receive_udp(side, frame, p);
  } else if (p.kind == PacketKind::other) {
    receive_slowly(side, frame);
  } else if (!parts_.slow_path.latency_streams[index_of(side)].receive(frame, now)) {
    // A damaged frame of the latency stream is the stream's to count.
    ++parts_.counts.of(side)[reason_of(p.kind)];
  }
}

void FlowDriver::receive_slowly(Side side, const Frame& frame) {
  if (is_too_long_message(frame))
    take_path_mtu(side, frame);
  else
    parts_.slow_path.receive(side, frame, parts_.context.now);
}

// A connection in TIME_WAIT has nothing in flight.
Flow* FlowDriver::sender_of(Side side, const TooLongPacket& packet) {
  const FlowTable& table = parts_.context.tables[index_of(side)];
  const FlowKey key{packet.destination, packet.source, packet.destination_port, packet.source_port,
                    false};
  const uint32_t entry = table.find(key, table.hash(key));
  return FlowTable::is_flow(entry) ? &parts_.context.flows[entry] : nullptr;
}

void FlowDriver::take_path_mtu(Side side, const Frame& frame) {
  Context& context = parts_.context;
  const std::optional<TooLongPacket> sent = read_too_long_message(frame);
  Flow* const flow = sent ? sender_of(side, *sent) : nullptr;
  if (flow != nullptr && parts_.flows.cut_instead(*flow)) return;
  const tcp::PathMtu outcome = flow == nullptr
                                   ? tcp::PathMtu::refused
                                   : tcp::take_path_mtu(context, *flow, sent->sequence, sent->mtu);
  if (outcome == tcp::PathMtu::refused) {
    ++parts_.counts.dropped(side)[Drop::path_mtu_refused];
    return;
  }
  parts_.counts.path_mtu[index_of(side)].add(sent->mtu);
  if (outcome == tcp::PathMtu::known) return;
  tcp::transmit(context, *flow);
  tcp::settle(*flow);
}

// A function by itself, for the same reason.
[[gnu::noinline]] void FlowDriver::receive_unstamped(Side side, const Frame& frame, Arrival& p,
                                                     const Arrival* end) {
  receive_plain<false>(side, frame, p, end);
}

template <bool kStamped>
inline void FlowDriver::receive_plain(Side side, const Frame& frame, Arrival& p,
                                      const Arrival* end) {
  Context& context = parts_.context;
  Took took{p.flow, tcp::kNotPlain};
  FlowClass* shared = nullptr;
  if (p.form == (kStamped ? Arrival::Form::syn : Arrival::Form::unstamped_syn)) {
    took = take_plain_syn<kStamped>(side, frame, p);
    if (took.flow == nullptr && took.events != tcp::kNotPlain) return;
    if (took.flow != nullptr) shared = &context.class_of(*took.flow);
  } else {
    if (took.flow == nullptr || !p.segment.is_for(*took.flow)) [[unlikely]]
      took.flow = find_plain(side, p);
    if (took.flow != nullptr && tcp::is_plain<kStamped>(*took.flow, side)) [[likely]] {
      shared = &context.class_of(*took.flow);
      took.events = tcp::receive_plain<kStamped>(context, *shared, *took.flow, p.segment);
    }
  }
  if (took.events != tcp::kNotPlain) [[likely]]
    act_upon<true, kStamped>(context, *shared, *took.flow, took.events, p, end);
  else
    receive_generally(side, frame, p, end);
}

[[gnu::noinline]] Flow* FlowDriver::find_plain(Side side, const Arrival& p) {
  Context& context = parts_.context;
  const uint32_t entry =
      context.tables[index_of(side)].find_v4(p.segment.addresses(), p.segment.ports(), p.hash);
  return FlowTable::is_flow(entry) ? &context.flows[entry] : nullptr;
}

template <bool kStamped>
[[gnu::noinline]] FlowDriver::Took FlowDriver::take_plain_syn(Side side, const Frame& frame,
                                                              const Arrival& p) {
  constexpr Took kNotPlain{nullptr, tcp::kNotPlain};
  Context& context = parts_.context;
  const tcp::PlainSegment& syn = p.segment;
  if (tcp::is_syn_ack(syn)) {
    Flow* flow = p.flow;
    if (flow == nullptr || !syn.is_for(*flow)) flow = find_plain(side, p);
    if (flow == nullptr || !tcp::is_opening(*flow, side)) return kNotPlain;
    return {flow, tcp::receive_plain_syn<kStamped>(context, context.class_of(*flow), *flow, syn)};
  }
  if (side == Side::client || context.tables[index_of(Side::server)].find_v4(
                                  syn.addresses(), syn.ports(), p.hash) != FlowTable::kNone)
    return kNotPlain;
  const uint32_t number =
      parts_.listeners.find_tcp(syn.destination_port(), syn.destination().low32());
  if (number == Listeners::kNone) return kNotPlain;
  const FlowKey key{syn.source(), syn.destination(), syn.source_port(), syn.destination_port(),
                    false};
  TemplateClass& shared = parts_.classes[number];
  if (Flow* const flow = accept(frame, key, p.hash, number, shared))
    tcp::accept_plain<kStamped>(context, shared, *flow, syn, p.hash);
  return {};
}

[[gnu::noinline]] void FlowDriver::receive_generally(Side side, const Frame& frame, Arrival& p,
                                                     const Arrival* end) {
  if (p.form != Arrival::Form::other) {
    parse_usual(frame, p.packet);
    p.kind = PacketKind::tcp;
    p.form = Arrival::Form::other;
  }
  if (const Took took = take_generally(side, frame, p); took.flow != nullptr)
    act_upon<false, false>(parts_.context, parts_.context.class_of(*took.flow), *took.flow,
                           took.events, p, end);
}

FlowDriver::Took FlowDriver::take_generally(Side side, const Frame& frame, Arrival& p) {
  Context& context = parts_.context;
  if (parts_.runs.empty()) {
    ++parts_.counts.dropped(side)[Drop::idle];
    return {};
  }
  find_payload(frame, p.packet);
  const tcp::Segment segment = tcp::parse_segment(p.packet);
  const uint32_t entry = context.tables[index_of(side)].find(p.key(), p.hash);
  Flow* flow = nullptr;
  if (FlowTable::is_flow(entry)) [[likely]]
    flow = &context.flows[entry];
  else if (entry != FlowTable::kNone)
    flow = &parts_.flows.restore(FlowTable::wait_of(entry));
  if (flow != nullptr && parts_.flows.cut_instead(*flow)) return {};
  if (flow != nullptr && flow->state == FlowState::time_wait && segment.is(tcp::kSyn) &&
      !segment.is(tcp::kAck) && after(segment.sequence, flow->rcv_nxt)) {
    parts_.flows.release(*flow);  // a new connection from the same port, RFC 9293 section 3.6.1
    flow = nullptr;
  }
  if (flow == nullptr) {
    take_stray(side, frame, p, segment);
    return {};
  }
  return take_segment(*flow, p.packet, segment);
}

// -- from the flow to the burst that is sent -----------------------------------------------------

FlowDriver::Took FlowDriver::take_segment(Flow& flow, const Packet& packet,
                                          const tcp::Segment& segment) {
  Context& context = parts_.context;
  const bool undecided = flow.wait == Wait::template_choice;
  if (undecided && packet.payload_length != 0 && segment.sequence == flow.rcv_nxt &&
      !parts_.listeners.choose(flow, packet)) {
    refuse_undecided(flow);
    return {};
  }
  TemplateClass& shared = parts_.classes.of(flow);
  if (shared.tls != nullptr) {
    PlaintextCheck check(context, shared.payload_check);
    return {&flow, shared.tls->receive(context, flow, segment, packet, check.reader())};
  }
  if (packet.payload_length != 0 && shared.payload_check != nullptr) [[unlikely]]
    check_payload(context, *shared.payload_check, flow, segment, packet);
  const bool begins = undecided && flow.wait == Wait::nothing && flow.has(kEverEstablished);
  tcp::Events events = tcp::receive(context, flow, segment, packet.traffic_class);
  if (begins) events |= tcp::kEstablished;
  if (flow.wait == Wait::template_choice && (events & tcp::kPeerClosed) != 0) {
    refuse_undecided(flow);  // it will never say what it wants
    return {};
  }
  return {&flow, events};
}

/// Whether the packet behind `p`, of those before `end`, goes on where what the flow has received
/// by `p` ends. Then more of an in-order run is at hand: one answer to all of it, as a kernel gives
/// to segments that it has put together (GRO). Fewer frames for both ends.
inline bool FlowDriver::goes_on(const Flow& flow, const Arrival& p, const Arrival* end) {
  const Arrival* const next = &p + 1;
  return next != end && next->hash == p.hash && next->is_tcp() &&
         load_be<uint32_t>(next->header()) == load_be<uint32_t>(p.header()) &&
         flow.extension == Flow::kNone && next->payload_length() != 0 &&
         load_be<uint32_t>(next->header() + 4) == flow.rcv_nxt;
}

template <bool kPlain, bool kStamped>
[[gnu::always_inline]] inline void FlowDriver::act_upon(Context& context, FlowClass& of_flow,
                                                        Flow& flow, tcp::Events events,
                                                        const Arrival& p, const Arrival* end) {
  if ((events & tcp::kGone) != 0) {
    parts_.flows.release(flow, p.hash);
    return;
  }
  auto& shared = static_cast<TemplateClass&>(of_flow);  // see Classes
  bool wakes = program::wakes(flow, events);
  if ((events & tcp::kDelivered) != 0) latency::record_payload(context, shared, flow);
  if ((events & tcp::kEstablished) != 0 && flow.wait != Wait::template_choice) {
    shared.run->count_established(context, flow);
    if (flow.has(kServerSide)) {
      program::begin(flow, flow.rx_available);
      wakes = true;
    } else {
      latency::record(
          context, shared, flow,
          !kPlain && shared.tls != nullptr ? LatencyKind::tls_handshake : LatencyKind::connect);
    }
  }
  // With two callers it would be part of neither.
  constexpr bool kInOnePiece = kPlain && kStamped;
  if (wakes && (kInOnePiece ? program::proceed(context, shared, flow)
                            : program::go_on(context, flow)) == program::Outcome::release) {
    parts_.flows.release(flow, p.hash);
    return;
  }
  if ((events & tcp::kDelivered) == 0 || !goes_on(flow, p, end)) {
    if constexpr (kPlain)
      tcp::answer<kStamped>(context, shared, flow);
    else
      tcp::transmit(context, flow);
  }
  if constexpr (!kPlain) tcp::settle(flow);
  if (tcp::begins_time_wait(flow)) parts_.flows.begin_time_wait(flow, p.hash);
}

void FlowDriver::expire(Flow& flow, TimerKind kind) {
  Context& context = parts_.context;
  if (parts_.flows.cut_instead(flow)) return;
  if (kind != TimerKind::program && flow.state != FlowState::datagram) {
    if (tcp::expire(context, flow, kind) == tcp::kGone) {
      parts_.flows.release(flow);
      return;
    }
    tcp::transmit(context, flow);
    tcp::settle(flow);
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
    tcp::transmit(context, flow);
    tcp::settle(flow);
  }
}

// -- what belongs to no flow yet -----------------------------------------------------------------

void FlowDriver::take_stray(Side side, const Frame& frame, const Arrival& p,
                            const tcp::Segment& segment) {
  const Packet& packet = p.packet;
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
  const uint32_t number =
      parts_.listeners.find_tcp(packet.destination_port, packet.destination.low32());
  if (number == Listeners::kNone) {
    ++counters[Counter::err_no_template];
    if (blackhole == 0) parts_.strays.refuse(side, frame, packet, segment);
    return;
  }
  if (Flow* const flow = accept(frame, p.key(), p.hash, number, parts_.classes[number]))
    tcp::accept(parts_.context, *flow, segment, p.hash);
}

[[gnu::always_inline]] inline Flow* FlowDriver::accept(const Frame& frame, const FlowKey& key,
                                                       uint32_t hash, uint32_t flow_class,
                                                       TemplateClass& shared) {
  Context& context = parts_.context;
  PathTable& paths = context.paths[index_of(Side::server)];
  uint16_t path = PathTable::kPort;
  if (!shared.tunables->dont_use_inbound_mac) [[likely]]
    path = paths.last_answers(frame.head) ? paths.last() : paths.intern(reply_path(frame));
  Flow* const flow = parts_.flows.make(key, hash, flow_class, shared, path, Side::server,
                                       shared.program->uses_variables);
  if (flow == nullptr) [[unlikely]] {
    ++parts_.counts.of(Side::server)[Counter::err_s_nf_throttled];
    parts_.listeners.give_back(flow_class);
  } else if (shared.undecided != nullptr) [[unlikely]] {
    flow->wait = Wait::template_choice;
    ++parts_.counts.of(Side::server)[Counter::defer_template];
  }
  return flow;
}

void FlowDriver::refuse_undecided(Flow& flow) {
  ++parts_.counts.of(Side::server)[Counter::err_defer_no_template];
  if (parts_.strays.tunables.blackhole == 0) tcp::abort(parts_.context, flow);
  parts_.flows.release(flow);
}

// -- UDP -----------------------------------------------------------------------------------------

void FlowDriver::receive_udp(Side side, const Frame& frame, const Arrival& p) {
  const Packet& packet = p.packet;
  Context& context = parts_.context;
  if (parts_.runs.empty()) {
    ++parts_.counts.dropped(side)[Drop::idle];
    return;
  }
  const uint32_t entry = context.tables[index_of(side)].find(p.key(), p.hash);
  Flow* flow = FlowTable::is_flow(entry) ? &context.flows[entry] : nullptr;
  if (flow != nullptr && parts_.flows.cut_instead(*flow)) return;
  const bool begins = flow == nullptr;
  if (begins) {
    if (side == Side::client) {
      ++parts_.counts.of(side)[Counter::err_cwf];
      return;
    }
    const uint32_t number = parts_.listeners.find_udp(packet);
    if (number == Listeners::kNone) {
      ++parts_.counts.of(side)[Counter::err_no_template];
      return;
    }
    flow = accept(frame, p.key(), p.hash, number, parts_.classes[number]);
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
