#include "stats/gauges.h"

#include <gtest/gtest.h>

namespace engine {
namespace {

double gauge(const GaugeValues& values, Gauge which) {
  return values[static_cast<size_t>(which)];
}

TEST(SmoothedRate, NeedsTwoReadings) {
  SmoothedRate rate;
  rate.sample(1000, 5);
  EXPECT_EQ(rate.value(), 0);
  rate.sample(1500, 5.5);
  EXPECT_DOUBLE_EQ(rate.value(), 1000);
}

TEST(SmoothedRate, WeighsTheLatestReadingHalf) {
  SmoothedRate rate;
  rate.sample(0, 0);
  rate.sample(100, 1);
  rate.sample(400, 2);
  EXPECT_DOUBLE_EQ(rate.value(), (100 + 300) / 2.0);
}

TEST(SmoothedRate, TakesNoRateFromAnInstant) {
  SmoothedRate rate;
  rate.sample(0, 0);
  rate.sample(50, 0.001);
  EXPECT_EQ(rate.value(), 0);
  rate.sample(100, 1);
  EXPECT_DOUBLE_EQ(rate.value(), 100);
}

TEST(SideGauges, CountsOpenAndEstablishedFlows) {
  CounterBlock c;
  c[Counter::tcps_connattempt] = 10;
  c[Counter::tcps_connects] = 8;
  c[Counter::tcps_closed] = 3;
  c[Counter::udps_connects] = 5;
  c[Counter::udps_closed] = 1;
  const GaugeValues values = SideGauges{}.values(c, 0);
  EXPECT_EQ(gauge(values, Gauge::m_active_flows), 7 + 4);
  EXPECT_EQ(gauge(values, Gauge::m_est_flows), 5 + 4);
}

TEST(SideGauges, OfAClientLeaveOutWhatWasRefused) {
  CounterBlock c;
  c[Counter::tcps_connattempt] = 100;
  c[Counter::tcps_connects] = 50;
  c[Counter::tcps_closed] = 50;
  c[Counter::closed_half_open] = 50;
  const GaugeValues values = SideGauges{}.values(c, 0);
  EXPECT_EQ(gauge(values, Gauge::m_active_flows), 50);
  EXPECT_EQ(gauge(values, Gauge::m_est_flows), 50);
}

TEST(SideGauges, OfAServerLeaveOutWhatWasNeverAccepted) {
  CounterBlock c;
  c[Counter::tcps_accepts] = c[Counter::tcps_connects] = 2;
  c[Counter::tcps_closed] = 5;
  c[Counter::closed_half_open] = 4;
  const GaugeValues values = SideGauges{}.values(c, 0);
  EXPECT_EQ(gauge(values, Gauge::m_active_flows), 1);
  EXPECT_EQ(gauge(values, Gauge::m_est_flows), 1);
}

TEST(SideGauges, DeriveRatesSizesAndRatio) {
  SideGauges gauges;
  gauges.sample({}, 0);
  CounterBlock c;
  c[Counter::tcps_rcvackbyte] = 900;
  c[Counter::tcps_sndbyte_ok] = 900;
  c[Counter::tcps_sndrexmitbyte] = 100;
  c[Counter::tcps_rcvbyte] = 3000;
  c[Counter::tcps_sndtotal] = 4;
  c[Counter::tcps_rcvpack] = 3;
  c[Counter::tcps_rcvackpack] = 3;
  gauges.sample(c, 1);
  const GaugeValues values = gauges.values(c, 1.5);
  EXPECT_DOUBLE_EQ(gauge(values, Gauge::m_tx_bw_l7_r), 7200);
  EXPECT_DOUBLE_EQ(gauge(values, Gauge::m_tx_bw_l7_total_r), 8000);
  EXPECT_DOUBLE_EQ(gauge(values, Gauge::m_rx_bw_l7_r), 24000);
  EXPECT_DOUBLE_EQ(gauge(values, Gauge::m_tx_pps_r), 4);
  EXPECT_DOUBLE_EQ(gauge(values, Gauge::m_rx_pps_r), 6);
  EXPECT_DOUBLE_EQ(gauge(values, Gauge::m_avg_size), 3900 / 10.0);
  EXPECT_DOUBLE_EQ(gauge(values, Gauge::m_tx_ratio), 90);
  EXPECT_DOUBLE_EQ(gauge(values, Gauge::m_traffic_duration), 1.5);
}

}  // namespace
}  // namespace engine
