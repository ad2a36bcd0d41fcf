// Latency streams: none yet, so always idle.

#include "rpc/control.h"
#include "rpc/rpc_error.h"

namespace engine {

namespace {

Json idle_port() {
  constexpr int kFirstBucketMicroseconds = 10;
  Json counters = Json::object();
  for (const char* name :
       {"m_tx_pkt_ok", "tx_arp", "ipv6_n_solic", "ignore_bytes", "m_tx_pkt_err", "m_pkt_ok",
        "m_unsup_prot", "m_no_magic", "m_no_id", "m_seq_error", "m_l3_cs_err", "m_l4_cs_err",
        "m_length_error", "m_no_ipv4_option", "m_jitter", "m_rx_check"})
    counters[name] = 0;
  return {{"hist",
           {{"min_usec", kFirstBucketMicroseconds},
            {"max_usec", 0},
            {"high_cnt", 0},
            {"cnt", 0},
            {"s_avg", 0},
            {"s_max", 0},
            {"histogram", Json::array()}}},
          {"stats", std::move(counters)}};
}

}  // namespace

void add_latency_methods(MethodTable& methods, ControlState& state) {
  methods.add("get_latency_stats", Access::reader, {}, [&state](const Json&) {
    Json data = {{"cpu_util", 0}, {"epoch", 0}, {"unknown", 0}};
    for (uint32_t port = 0; port < state.engine.ports().size(); ++port)
      data["port-" + std::to_string(port)] = idle_port();
    // The name is spelt as TRex spells it.
    return Json{{"name", "trex-latecny-v2"}, {"type", 0}, {"data", std::move(data)}};
  });
  methods.add("start_latency", Access::owner, {}, [](const Json&) -> Json {
    throw refused("Latency streams are not supported by this engine yet");
  });
  methods.add("stop_latency", Access::owner, {}, [](const Json&) {
    return Json{{"stopped", false}};
  });
  methods.add("update_latency", Access::owner, {}, [](const Json&) -> Json {
    throw refused("Latency is not active, can't update rate");
  });
}

}  // namespace engine
