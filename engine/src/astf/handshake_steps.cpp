#include "astf/handshake_steps.h"

#include "flow/latency.h"
#include "program/interpreter.h"

namespace engine {

// Of several runs, each in turn.
bool HandshakeSteps::begin() {
  for (size_t tried = 0; tried < runs_.size(); ++tried) {
    tls::TlsCore* const tls_core = runs_[next_run_++ % runs_.size()]->tls_core();
    if (tls_core == nullptr) continue;
    while (const std::optional<tls::TlsCore::Due> due = tls_core->take_due()) {
      Flow& flow = context_.flows[due->flow];
      if (flows_.abort_instead(flow)) continue;
      due->endpoint->begin_step(context_, flow);
      flow_ = &flow;
      return true;
    }
  }
  return false;
}

void HandshakeSteps::end() {
  Context& context = context_;
  Flow& flow = *flow_;
  TemplateClass& template_side = classes_.of(flow);
  PlaintextCheck check(context, template_side.payload_check);
  const tcp::Events events = template_side.tls()->end_step(context, flow, check.reader());
  if ((events & tcp::kDelivered) != 0) latency::record_payload(context, template_side, flow);
  if ((events & tcp::kEstablished) != 0) {
    template_side.run->count_established(context, flow);
    latency::record(context, template_side, flow, LatencyKind::tls_handshake);
  }
  const bool begins = (events & tcp::kEstablished) != 0 && flow.has(kServerSide);
  const program::Outcome outcome =
      begins ? program::start(context, template_side, flow) : program::wake(context, flow, events);
  if (outcome == program::Outcome::release) {
    flows_.release(flow);
    return;
  }
  tcp::transmit_slow_path(context, flow);
  if (tcp::begins_time_wait(flow)) flows_.begin_time_wait(flow);
}

}  // namespace engine
