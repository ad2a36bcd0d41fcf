#include "tcp/info.h"

#include "tcp/internal.h"

namespace engine::tcp {

Beginning beginning_of(const Context& context, const Flow& flow) {
  const auto payload = static_cast<uint32_t>(flow.rx_available);
  return {.established = context.now,
          .sent = flow.snd_una - 1,
          .received = flow.rcv_nxt - payload - (flow.has(kPeerFin) ? 2 : 1)};
}

Info info(Context& context, const Flow& flow, const Beginning& beginning) {
  Info info;
  info.local = context.local_of(flow);
  info.remote = context.remote_of(flow);
  info.local_port = flow.local_port();
  info.remote_port = flow.remote_port();
  info.side = Context::side_of(flow);
  info.state = flow.state;
  info.age = context.now - beginning.established;
  info.timestamps = flow.has(kTimestamps);
  info.sack = flow.has(kSack);
  info.ecn = flow.has(kEcn);
  info.scaling = flow.has(kScaling);
  info.send_scale = flow.send_scale();
  info.receive_scale = flow.receive_scale();
  info.timeout = retransmission_timeout(flow);
  info.rtt_us = flow.srtt_us;
  info.rtt_variation_us = flow.rttvar_us;
  info.slow_start_threshold = flow.ssthresh;
  info.congestion_window = flow.cwnd;
  info.receive_window = context.class_of(flow).tunables->receive_buffer;
  info.send_window = flow.snd_wnd;
  info.received = flow.rcv_nxt - beginning.received;
  info.sent = flow.snd_nxt - beginning.sent;
  info.mss = flow.mss;
  return info;
}

}  // namespace engine::tcp
