#include "rpc/flow_samples.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "net/address_text.h"

namespace engine {

namespace {

constexpr double kShortestInterval = 0.01;
constexpr double kKeptSeconds = 10;
constexpr double kNanosecondsPerMillisecond = 1e6;

/// As BSD numbers them.
int number_of(FlowState state) {
  switch (state) {
    case FlowState::free:
    case FlowState::datagram:
      return 0;
    case FlowState::syn_sent:
      return 2;
    case FlowState::syn_received:
      return 3;
    case FlowState::established:
      return 4;
    case FlowState::close_wait:
      return 5;
    case FlowState::fin_wait_1:
      return 6;
    case FlowState::closing:
      return 7;
    case FlowState::last_ack:
      return 8;
    case FlowState::fin_wait_2:
      return 9;
    case FlowState::time_wait:
      return 10;
  }
  return 0;
}

std::string end_text(const IpAddress& address, uint16_t port) {
  return address.is_v4() ? fmt::format("{}:{}", ipv4_text(address.low32()), port)
                         : fmt::format("[{}]:{}", ipv6_text(address), port);
}

double milliseconds(Nanoseconds time) {
  return static_cast<double>(time) / kNanosecondsPerMillisecond;
}

/// TRex's names. What a flow does not keep is null.
Json json_of(const tcp::Info& info) {
  std::string options;
  if (info.timestamps) options += "/timestamps";
  if (info.sack) options += "/sack";
  if (info.ecn) options += "/ecn";
  if (info.scaling) options += "/wscale";
  Json json = {{"origin", info.side == Side::client ? "client" : "server"},
               {"duration", info.age / kMillisecond},
               {"state", number_of(info.state)},
               {"options", options},
               {"rto", info.timeout / kMillisecond},
               {"last_data_recv", info.since_received / kMillisecond},
               {"rtt", milliseconds(info.rtt_us * kMicrosecond)},
               {"rttvar", milliseconds(info.rtt_variation_us * kMicrosecond)},
               {"snd_ssthresh", info.slow_start_threshold},
               {"snd_cwnd", info.congestion_window},
               {"rcv_space", info.receive_window},
               {"rcv_nxt", info.received},
               {"snd_wnd", info.send_window},
               {"snd_nxt", info.sent},
               {"snd_mss", info.mss},
               {"rcv_mss", info.mss},
               {"snd_rexmitpack", nullptr},
               {"rcv_ooopack", nullptr},
               {"snd_zerowin", nullptr}};
  if (info.scaling) {
    json["snd_wscale"] = info.send_scale;
    json["rcv_wscale"] = info.receive_scale;
  }
  return json;
}

}  // namespace

void FlowSamples::begin(double interval_s, double now) {
  *this = {};
  if (interval_s <= 0) return;
  interval_ = std::max(interval_s, kShortestInterval);
  due_ = now + interval_;
}

double FlowSamples::patience(double now) const {
  return wanted() ? std::max(due_ - now, 0.0) : kNever;
}

void FlowSamples::add(const std::vector<std::vector<tcp::Info>>& cores, double now) {
  due_ = now + interval_;
  const auto most = static_cast<size_t>(std::max(kKeptSeconds / interval_, 1.0)) * cores.size();
  for (const std::vector<tcp::Info>& core : cores) {
    if (core.empty()) continue;
    Json sample = {{"index", taken_++}};
    for (const tcp::Info& info : core)
      sample[end_text(info.local, info.local_port) + "-" +
             end_text(info.remote, info.remote_port)] = json_of(info);
    kept_.push_back(std::move(sample));
    if (kept_.size() > most) kept_.pop_front();
  }
}

Json FlowSamples::from(uint64_t first) const {
  const uint64_t oldest = taken_ - kept_.size();
  Json samples = Json::array();
  for (uint64_t number = first > taken_ ? oldest : std::max(first, oldest); number < taken_;
       ++number)
    samples.push_back(kept_[number - oldest]);
  return samples;
}

}  // namespace engine
