// What is answered to a packet without a flow is as in TRex (src/44bsd/flow_table.cpp).

#include "astf/unmatched.h"

#include "udp/udp.h"

namespace engine {

void Unmatched::process(Side side, const RxPacket& p) {
  if (runs_.empty()) {
    ++counts_.dropped(side)[Drop::idle];
    return;
  }
  if (side == Side::client) return refuse(side, p, Counter::err_cwf, tunables.blackhole == 0);
  if ((p.flags() & (tcp::kSyn | tcp::kAck | tcp::kRst)) != tcp::kSyn)
    return refuse(side, p, Counter::err_no_syn, tunables.blackhole != 2);
  const uint32_t number = listeners_.find_tcp(p.destination_port(), p.destination().low32());
  if (number == Listeners::kNone)
    return refuse(side, p, Counter::err_no_template, tunables.blackhole == 0);
  TemplateClass& template_side = classes_[number];
  if (Flow* const flow = accept(p, number, template_side))
    tcp::accept(context_, template_side, *flow, p);
}

[[gnu::always_inline]] inline Flow* Unmatched::accept(const RxPacket& p, uint32_t flow_class,
                                                      TemplateClass& template_side) {
  Context& context = context_;
  L2HeaderTable& l2_headers = context.l2_headers[index_of(Side::server)];
  uint16_t l2_header = L2HeaderTable::kPort;
  if (!template_side.tunables->dont_use_inbound_mac) [[likely]]
    l2_header = l2_headers.last_answers(p.frame->head) ? l2_headers.last()
                                                       : l2_headers.intern(reply_header(*p.frame));
  Flow* const flow = flows_.make(p.key, p.source(), p.destination(), flow_class, template_side,
                                 l2_header, Side::server, template_side.program->uses_variables);
  if (flow == nullptr) [[unlikely]] {
    ++counts_.of(Side::server)[Counter::err_s_nf_throttled];
    listeners_.give_back(flow_class);
  } else if (template_side.undecided != nullptr) [[unlikely]] {
    flow->wait = Wait::template_choice;
    ++counts_.of(Side::server)[Counter::defer_template];
  }
  return flow;
}

Flow* Unmatched::begin_datagrams(Side side, const RxPacket& p) {
  if (runs_.empty()) {
    ++counts_.dropped(side)[Drop::idle];
    return nullptr;
  }
  if (side == Side::client) {
    ++counts_.of(side)[Counter::err_cwf];
    return nullptr;
  }
  const uint32_t number = listeners_.find_udp(p);
  if (number == Listeners::kNone) {
    ++counts_.of(side)[Counter::err_no_template];
    return nullptr;
  }
  Flow* const flow = accept(p, number, classes_[number]);
  if (flow == nullptr) return nullptr;
  udp::open(context_, *flow);
  ++classes_.of(*flow).run->established;
  return flow;
}

bool Unmatched::decide(Flow& flow, const RxPacket& p, tcp::Events& events) {
  if (p.sequence() != flow.rcv_nxt) return true;
  if (!listeners_.choose(flow, p)) {
    refuse_undecided(flow);
    return false;
  }
  if (flow.has(kEverEstablished)) events = tcp::kEstablished;  // its program begins now
  return true;
}

void Unmatched::refuse_undecided(Flow& flow) {
  ++counts_.of(Side::server)[Counter::err_defer_no_template];
  if (tunables.blackhole == 0) tcp::abort(context_, flow);
  flows_.release(flow);
}

[[gnu::noinline]] void Unmatched::refuse(Side side, const RxSegment& segment, Counter why,
                                         bool answers) {
  CounterBlock& counters = counts_.of(side);
  ++counters[why];
  if (!answers) return;
  const L2Header back = reply_header(*segment.frame);
  if (ignored.has(back.destination)) {
    ++counters[Counter::ignored_macs];
  } else if (ignored.has(segment.source().low32())) {
    ++counters[Counter::ignored_ips];
  } else {
    tcp::send_reset(context_, side, segment, back, tunables);
  }
}

}  // namespace engine
