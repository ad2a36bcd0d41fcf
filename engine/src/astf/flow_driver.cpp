// A frame from the burst that is received to the one that is sent: it is parsed, its flow is looked
// up, TCP processes the segment, the program acts upon what happened, and TCP sends what is due.

#include "astf/flow_driver.h"

#include <algorithm>

#include "flow/latency.h"
#include "program/interpreter.h"

namespace engine {

namespace {

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
        burst_.parse(context_, context_.tables[index_of(side)], some);
    if (flows_.aborting() || service.enabled || service.filtered) [[unlikely]]
      divert(packets, service);
    process(side, packets);
    frames = frames.subspan(some.size());
  }
}

[[gnu::noinline]] void FlowDriver::process(Side side, std::span<const RxPacket> packets) {
  Context& context = context_;
  const RxPacket* const end = packets.data() + packets.size();
  for (const RxPacket* p = packets.data(); p != end; ++p) {
    if (p->kind == PacketKind::tcp) [[likely]]
      process_segment(context, side, *p, end);
    else
      others_.process(side, *p);
  }
}

// The flow that its burst found for it may have ended meanwhile: then it has no fast path. It
// has not become another one with the same addresses: no flow of the other side begins while one
// side's frames are processed.
inline void FlowDriver::process_segment(Context& context, Side side, const RxPacket& p,
                                        const RxPacket* end) {
  Flow* found = p.flow;
  if (found == nullptr || !(*found == p.key)) [[unlikely]]
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
    flows_.release(flow);
    return;
  }
  bool wakes = program::wakes(flow, events);
  if ((events & tcp::kDelivered) != 0) latency::record_payload(context, template_side, flow);
  if ((events & tcp::kEstablished) != 0) {
    template_side.run->count_established(context, flow);
    if (flow.has(kServerSide)) {
      wakes = true;
    } else {
      latency::record(context, template_side, flow, LatencyKind::connect);
    }
  }
  if (wakes && program::proceed(context, template_side, flow) == program::Outcome::release) {
    flows_.release(flow);
    return;
  }
  if ((events & tcp::kDelivered) == 0 || !goes_on(flow, p, end))
    tcp::transmit(context, template_side, flow);
  if (tcp::begins_time_wait(flow)) flows_.begin_time_wait(flow);
}

/// Whether the packet behind `p`, of those before `end`, goes on where what the flow has received
/// by `p` ends. Then more of an in-order run is at hand: one answer to all of it, as a kernel gives
/// to segments that it has put together (GRO). Fewer frames for both ends.
inline bool FlowDriver::goes_on(const Flow& flow, const RxPacket& p, const RxPacket* end) {
  const RxPacket* const next = &p + 1;
  return next != end && next->kind == PacketKind::tcp && next->key == p.key &&
         flow.extension == Flow::kNone && next->payload_length != 0 &&
         next->sequence() == flow.rcv_nxt;
}

// Never inlined, as are all that are not the fast path's: as part of that they would take registers
// from it.
[[gnu::noinline]] FlowDriver::SlowPath FlowDriver::process_slow_path(Side side, const RxPacket& p,
                                                                     Flow* flow) {
  // What was found may have ended since its packet was parsed.
  if (flow == nullptr || flow->state <= FlowState::datagram) flow = look_up(side, p);
  if (flow != nullptr && flows_.abort_instead(*flow)) return {};
  if (flow != nullptr && flow->state == FlowState::time_wait && p.is(tcp::kSyn) &&
      tcp::gives_way(context_, *flow, p)) {
    flows_.release(*flow);  // a new connection from the same port
    flow = nullptr;
  }
  if (flow == nullptr) {
    unmatched_.process(side, p);
    return {};
  }
  tcp::Events events = tcp::kNothing;
  if (p.payload_length != 0 && flow->wait == Wait::template_choice &&
      !unmatched_.decide(*flow, p, events))
    return {};
  TemplateClass& template_side = classes_.of(*flow);
  if (template_side.tls() != nullptr) {
    PlaintextCheck check(context_, template_side.payload_check);
    events = template_side.tls()->receive(context_, *flow, p, check.reader());
  } else {
    const uint32_t expected = flow->rcv_nxt;
    events |= tcp::receive_slow_path(context_, template_side, *flow, p);
    if ((events & tcp::kTaken) != 0 && template_side.payload_check != nullptr) [[unlikely]]
      check_payload(context_, *template_side.payload_check, *flow, p, expected);
  }
  // A flow that waits for its template has no program yet, and never takes the fast path.
  if (flow->wait == Wait::template_choice) [[unlikely]] {
    if (program::wakes(*flow, events)) {
      unmatched_.refuse_undecided(*flow);
      return {};
    }
    events &= ~uint32_t{tcp::kEstablished};
  }
  return {flow, events};
}

[[gnu::always_inline]] inline Flow* FlowDriver::look_up(Side side, const RxPacket& p) {
  Context& context = context_;
  const FlowTable& table = context.tables[index_of(side)];
  const uint32_t entry = table.find(p.key, p.source(), p.destination());
  if (FlowTable::is_flow(entry)) return &context.flows[entry];
  return entry == FlowTable::kNone ? nullptr : &flows_.restore(FlowTable::wait_of(entry));
}

[[gnu::noinline]] Flow* FlowDriver::find_flow(Side side, const RxPacket& p) {
  return look_up(side, p);
}

void FlowDriver::expire(Flow& flow, TimerKind kind) {
  Context& context = context_;
  if (flows_.abort_instead(flow)) return;
  if (kind != TimerKind::program && flow.state != FlowState::datagram) {
    if (tcp::expire(context, flow, kind) == tcp::kGone) {
      flows_.release(flow);
      return;
    }
    tcp::transmit_slow_path(context, flow);
    if (tcp::begins_time_wait(flow)) flows_.begin_time_wait(flow);
    return;
  }
  if (kind != TimerKind::program) {
    ++(*context.class_of(flow).counters)[Counter::udps_keepdrops];
    flows_.release(flow);
    return;
  }
  if (flow.wait == Wait::execution) {
    opener_.execute(flow);
    return;
  }
  const program::Outcome outcome = program::wake_from_delay(context, flow);
  if (outcome != program::Outcome::goes_on) {
    if (outcome == program::Outcome::endless)
      ++counts_.dropped(Context::side_of(flow))[Drop::endless_program];
    flows_.release(flow);
  } else if (flow.state != FlowState::datagram) {
    tcp::transmit_slow_path(context, flow);
  }
}

}  // namespace engine
