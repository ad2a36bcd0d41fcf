#include "stats/gauges.h"

namespace engine {

namespace {

using enum Counter;

uint64_t difference(uint64_t more, uint64_t less) {
  return more > less ? more - less : 0;
}

uint64_t active_udp_flows(const CounterBlock& c) {
  return difference(c[udps_connects] + c[udps_accepts], c[udps_closed]);
}

/// Connections that ended after they were established.
uint64_t ended(const CounterBlock& c) {
  return c[tcps_closed] - c[closed_half_open];
}

}  // namespace

void SmoothedRate::sample(double total, double now) {
  if (reading_ && now - reading_->time < kMinInterval) return;
  if (reading_) {
    const double latest = (total - reading_->total) / (now - reading_->time);
    rate_ = rate_ ? (*rate_ + latest) / 2 : latest;
  }
  reading_ = {total, now};
}

void SideGauges::sample(const CounterBlock& c, double now) {
  transmitted_.sample(c[tcps_rcvackbyte] + c[udps_sndbyte], now);
  transmitted_total_.sample(
      c[tcps_sndbyte_ok] + c[tcps_sndrexmitbyte] + c[tcps_sndprobe] + c[udps_sndbyte], now);
  received_.sample(c[tcps_rcvbyte] + c[udps_rcvbyte], now);
  packets_out_.sample(c[tcps_sndtotal] + c[udps_sndpkt], now);
  packets_in_.sample(c[tcps_rcvpack] + c[tcps_rcvackpack] + c[udps_rcvpkt], now);
}

GaugeValues SideGauges::values(const CounterBlock& c, double duration) const {
  const double bits_out = 8 * transmitted_.value();
  const double bits_out_total = 8 * transmitted_total_.value();
  const double bits_in = 8 * received_.value();
  const double packets = packets_out_.value() + packets_in_.value();

  GaugeValues values{};
  const auto set = [&values](Gauge gauge, double value) {
    values[static_cast<size_t>(gauge)] = value;
  };
  set(Gauge::m_active_flows, active_flows(c));
  set(Gauge::m_est_flows, difference(c[tcps_connects], ended(c)) + active_udp_flows(c));
  set(Gauge::m_tx_bw_l7_r, bits_out);
  set(Gauge::m_tx_bw_l7_total_r, bits_out_total);
  set(Gauge::m_rx_bw_l7_r, bits_in);
  set(Gauge::m_tx_pps_r, packets_out_.value());
  set(Gauge::m_rx_pps_r, packets_in_.value());
  set(Gauge::m_avg_size, packets > 0 ? (bits_out + bits_in) / (8 * packets) : 0);
  set(Gauge::m_tx_ratio, bits_out_total > 0 ? 100 * bits_out / bits_out_total : 0);
  set(Gauge::m_traffic_duration, duration);
  return values;
}

uint64_t opened_flows(const CounterBlock& c) {
  return c[tcps_connattempt] + c[udps_connects];
}

uint64_t active_flows(const CounterBlock& c) {
  // A server's connection counts from when it is accepted, a client's from its SYN.
  const bool client = c[tcps_connattempt] != 0;
  return difference(c[tcps_connattempt] + c[tcps_accepts], client ? c[tcps_closed] : ended(c)) +
         active_udp_flows(c);
}

}  // namespace engine
