// A path whose MTU is smaller than the segments that were sent: RFC 1191, RFC 8201, and whom to
// believe, RFC 5927 section 7.

#include <algorithm>

#include "net/ip.h"
#include "tcp/internal.h"

namespace engine::tcp {

namespace {

/// Windows that CUBIC remembers are in segments, of which they have `factor` times as many now.
void keep_windows(Extension& extension, float factor) {
  Cubic& cubic = extension.cubic;
  cubic.before *= factor;
  cubic.maximum *= factor;
  cubic.started = false;  // a new stage begins, after the slow start
}

/// Payload bytes of a segment whose packet has `mtu` bytes.
uint32_t mss_within(const Flow& flow, uint32_t mtu) {
  const size_t ip = flow.ipv6() ? kIpv6Length : kIpv4Length;
  const size_t options = flow.has(kTimestamps) ? kTimestampsLength : 0;
  return mtu - static_cast<uint32_t>(ip + kFixedHeader + options);
}

}  // namespace

void look_up_path(Context& context, Flow& flow) {
  const uint32_t mtu = context.path_mtus.find(context.remote_of(flow), context.now);
  if (mtu == 0) return;
  flow.mss = static_cast<uint16_t>(std::min<uint32_t>(flow.mss, mss_within(flow, mtu)));
  flow.cwnd = std::min(flow.cwnd, initial_window(context.class_of(flow), flow));
}

PathMtu process_path_mtu(Context& context, Flow& flow, uint32_t sequence, uint32_t mtu) {
  const bool in_flight = !before(sequence, flow.snd_una) && before(sequence, flow.snd_max);
  if (!may_send_data(flow) || !in_flight || mtu < (flow.ipv6() ? kLeastMtuV6 : kLeastMtuV4))
    return PathMtu::refused;
  const uint32_t mss = mss_within(flow, mtu);
  if (mss > flow.mss) return PathMtu::refused;
  context.path_mtus.learn(context.remote_of(flow), mtu, context.now);
  if (mss == flow.mss) return PathMtu::known;

  if (Extension* const extension = context.extension_of(flow))
    keep_windows(*extension, static_cast<float>(flow.mss) / static_cast<float>(mss));
  // RFC 1191 section 6.5: no sign of congestion, and all the same a slow start. It ends where the
  // window was; in a loss recovery, where that is to end.
  if (!flow.has(kFastRecovery)) flow.ssthresh = std::max(flow.ssthresh, flow.cwnd);
  flow.mss = static_cast<uint16_t>(mss);
  flow.cwnd = std::min(flow.cwnd, initial_window(context.class_of(flow), flow));
  go_back(flow);
  start_retransmit_timer(context, flow);
  return PathMtu::lowered;
}

}  // namespace engine::tcp
