// CUBIC, RFC 9438: the window as a cubic function of the time since it was last reduced.

#include <algorithm>
#include <cmath>

#include "tcp/internal.h"

namespace engine::tcp {

namespace {

constexpr double kBeta = 0.7;  // RFC 9438 section 4.6
constexpr double kC = 0.4;     // section 5.1, segments per second cubed
constexpr double kSecondsPerTick = static_cast<double>(1 << kTickShift) / kSecond;
/// Section 4.3: additive increase as gentle as kBeta, until the window before the reduction.
constexpr double kAlpha = 3 * (1 - kBeta) / (1 + kBeta);

/// Begins a congestion avoidance stage at the present window (section 4.2).
void start(Context& context, const Flow& flow, Cubic& cubic, double window) {
  cubic.started = true;
  cubic.epoch = context.tick;
  cubic.estimate = static_cast<float>(window);
  if (window < cubic.maximum) {
    cubic.inflection = static_cast<float>(std::cbrt((cubic.maximum - window) / kC));
  } else {
    cubic.inflection = 0;
    cubic.maximum = static_cast<float>(window);
  }
}

}  // namespace

uint32_t cubic_reduce(Context& context, Flow& flow, uint32_t flight) {
  Cubic& cubic = context.extend(flow).cubic;
  const auto window = static_cast<float>(flow.cwnd) / static_cast<float>(flow.mss);
  cubic.before = window;
  // Fast convergence, section 4.7: a flow that lost before it came back makes room for others.
  cubic.maximum = window < cubic.maximum ? window * static_cast<float>((1 + kBeta) / 2) : window;
  cubic.started = false;
  return static_cast<uint32_t>(flight * kBeta);
}

void cubic_grow(Context& context, Flow& flow, uint32_t acked) {
  Cubic& cubic = context.extend(flow).cubic;
  const double mss = flow.mss;
  const double window = flow.cwnd / mss;
  const double segments = acked / mss;
  if (!cubic.started) start(context, flow, cubic, window);
  const double time = (context.tick - cubic.epoch) * kSecondsPerTick;
  const double round_trip = flow.srtt_us * 1e-6;
  const auto at = [&](double t) {  // section 4.2, figure 1
    const double distance = t - cubic.inflection;
    return kC * distance * distance * distance + cubic.maximum;
  };
  // Section 4.3: what Reno would have by now.
  cubic.estimate +=
      static_cast<float>((cubic.estimate >= cubic.before ? 1 : kAlpha) * segments / window);
  double next = cubic.estimate;
  if (at(time) >= cubic.estimate) {
    const double target = std::clamp(at(time + round_trip), window, 1.5 * window);
    next = window + (target - window) / window * segments;
  }
  flow.cwnd = std::max(flow.cwnd, static_cast<uint32_t>(next * mss));
}

}  // namespace engine::tcp
