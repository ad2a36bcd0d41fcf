// Latency streams: start, stop, rate, and what they measured.

#include "rpc/methods.h"
#include "rpc/network/address_parameters.h"

namespace engine {

namespace {

using enum ParameterType;

Json histogram(const DecadeHistogram& histogram) {
  const auto microseconds = [](double ns) { return ns / kMicrosecond; };
  Json buckets = Json::array();
  for (size_t decade = 0; decade < DecadeHistogram::kDecades; ++decade)
    for (size_t i = 0; i < DecadeHistogram::kBuckets; ++i)
      if (const uint64_t count = histogram.bucket(decade, i))
        buckets.push_back({{"key", DecadeHistogram::bucket_us(decade, i)}, {"val", count}});
  return {{"min_usec", DecadeHistogram::kShortest / kMicrosecond},
          {"max_usec", microseconds(static_cast<double>(histogram.maximum()))},
          {"high_cnt", histogram.long_count()},
          {"cnt", histogram.count()},
          {"s_avg", microseconds(histogram.smoothed_average_ns())},
          {"s_max", microseconds(static_cast<double>(histogram.recent_maximum()))},
          {"histogram", std::move(buckets)}};
}

Json port_report(const LatencyReport& report) {
  Json counters = Json::object();
  for (const char* name : {"tx_arp", "ipv6_n_solic", "ignore_bytes", "m_unsup_prot", "m_no_id",
                           "m_no_ipv4_option", "m_rx_check"})
    counters[name] = 0;  // of packets that are not this server's at all
  counters["m_tx_pkt_ok"] = report.sent;
  counters["m_tx_pkt_err"] = report.not_sent;
  counters["m_pkt_ok"] = report.received;
  counters["m_seq_error"] = report.out_of_sequence;
  counters["m_length_error"] = report.wrong_length;
  counters["m_l3_cs_err"] = report.bad_ip_sum;
  counters["m_l4_cs_err"] = report.bad_icmp_sum;
  counters["m_no_magic"] = report.impossible_time;  // no payload of a latency packet
  counters["m_jitter"] = report.jitter_ns / kMicrosecond;
  return {{"hist", histogram(report.histogram)}, {"stats", std::move(counters)}};
}

Json statistics(ControlState& state) {
  Json data = {{"cpu_util", 0}, {"epoch", state.profiles.latency().epoch()}, {"unknown", 0}};
  for (uint32_t port = 0; port < state.engine.ports.infos().size(); ++port)
    data["port-" + std::to_string(port)] = port_report(state.engine.latency.report(port));
  // The name is spelt as TRex spells it.
  return {{"name", "trex-latecny-v2"}, {"type", 0}, {"data", std::move(data)}};
}

void start_latency(ControlState& state, const Json& params) {
  LatencyControl::Addresses addresses;
  addresses.client = ipv4_of(params, "src_addr");
  addresses.server = ipv4_of(params, "dst_addr");
  addresses.client_pair_offset = addresses.server_pair_offset = ipv4_of(params, "dual_port_addr");
  const auto mask = static_cast<uint32_t>(integer_in(params, "mask", 0, UINT32_MAX));
  state.profiles.latency().start(addresses, params.at("mult"), mask);
}

}  // namespace

void add_latency_methods(MethodTable& methods, ControlState& state) {
  methods.add("get_latency_stats", Access::reader, {},
              [&state](const Json&) { return statistics(state); });
  methods.add("start_latency", Access::owner,
              {{"mult", number},
               {"src_addr", string},
               {"dst_addr", string},
               {"dual_port_addr", string},
               {"mask", integer}},
              [&state](const Json& params) {
                start_latency(state, params);
                return Json::object();
              });
  methods.add("stop_latency", Access::owner, {}, [&state](const Json&) {
    state.profiles.latency().stop();
    return Json{{"stopped", true}};
  });
  methods.add("update_latency", Access::owner, {{"mult", number}}, [&state](const Json& params) {
    state.profiles.latency().update(params.at("mult"));
    return Json::object();
  });
}

}  // namespace engine
