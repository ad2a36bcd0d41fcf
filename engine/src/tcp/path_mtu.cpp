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

}  // namespace

PathMtu take_path_mtu(Context& context, Flow& flow, uint32_t sequence, uint32_t mtu) {
  const bool ipv4 = flow.local.is_v4();
  const bool in_flight = !before(sequence, flow.snd_una) && before(sequence, flow.snd_max);
  if (!may_send_data(flow) || !in_flight || mtu < (ipv4 ? kLeastMtuV4 : kLeastMtuV6))
    return PathMtu::refused;
  const auto headers = static_cast<uint32_t>((ipv4 ? kIpv4Length : kIpv6Length) + kFixedHeader +
                                             (flow.has(kTimestamps) ? kTimestampsLength : 0));
  const uint32_t mss = mtu - headers;
  if (mss > flow.mss) return PathMtu::refused;
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
