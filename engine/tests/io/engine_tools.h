#pragma once
// Whole engines on in-memory wires, and a small profile for them.

#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <memory>
#include <string>
#include <thread>

#include "io/engine.h"
#include "io/port.h"
#include "json/parse_profile.h"

namespace engine {

/// A request of 3 bytes, a response of 32,000, one flow for each of `limit`. `pause`: of the server
/// before its response, microseconds.
inline std::shared_ptr<const Profile> small_http(uint32_t limit, int port = 80, bool ipv6 = false,
                                                 uint32_t pause = 0) {
  const std::string delay =
      pause == 0 ? "" : R"({"name": "delay", "usec": )" + std::to_string(pause) + "},";
  return parse_profile(
      R"({"buf_list": ["R0VU", {"base": "SA==", "size": 32000, "fill": "eA=="}],
          "ip_gen_dist_list": [
            {"ip_start": "16.0.0.1", "ip_end": "16.0.0.200", "distribution": "seq", "dir": "c",
             "ip_offset": "1.0.0.0"},
            {"ip_start": "48.0.0.1", "ip_end": "48.0.0.2", "distribution": "seq", "dir": "s",
             "ip_offset": "1.0.0.0"}],
          "program_list": [
            {"commands": [{"name": "tx", "buf_index": 0}, {"name": "rx", "min_bytes": 32000}]},
            {"commands": [{"name": "rx", "min_bytes": 3}, )" +
          delay + R"({"name": "tx", "buf_index": 1}]}],
          "templates": [{
            "client_template": {"program_index": 0, "port": )" +
          std::to_string(port) + R"(, "cps": 2000, "limit": )" + std::to_string(limit) + R"(,
              "ip_gen": {"dist_client": {"index": 0}, "dist_server": {"index": 1}}, "cluster": {}},
            "server_template": {"program_index": 1, "assoc": [{"port": )" +
          std::to_string(port) + "}]}}]}",
      ipv6);
}

inline EngineConfig wires(uint32_t pairs, uint32_t cores) {
  EngineConfig config;
  for (uint32_t port = 0; port < 2 * pairs; ++port) config.ports.push_back({"wire", {}});
  config.cores_per_pair = cores;
  return config;
}

/// A port for each side, on these devices, which are joined.
inline EngineConfig two_ports(const std::array<std::string, 2>& devices) {
  EngineConfig config;
  for (const int end : {0, 1}) {
    PortConfig& port = config.ports.emplace_back();
    port.device = devices[end];
    port.address.mac = local_mac(static_cast<uint32_t>(end));
    port.address.destination = local_mac(static_cast<uint32_t>(end ^ 1));
  }
  return config;
}

/// Waits until `happened`; the time is a limit, not a measure.
template <typename Condition>
void eventually(Condition happened) {
  for (int i = 0; i < 6000 && !happened(); ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
}

/// Waits for a run to close its last flow.
inline RunStatus finish(const Run& run) {
  RunStatus status;
  eventually([&] {
    status = run.status();
    return status.phase != RunPhase::opening && status.client_flows + status.server_flows == 0;
  });
  return status;
}

inline RunCounters counters_of(const Subjects& engine, const Run& run) {
  CounterReading reading = engine.runs.counters({&run});
  return {std::move(reading.runs.front()), reading.table};
}

inline void expect_all_flows_whole(const Subjects& engine, const Run& run, uint64_t flows) {
  const RunCounters counters = counters_of(engine, run);
  const CounterBlock client = counters.sum(Side::client);
  const CounterBlock server = counters.sum(Side::server);
  EXPECT_EQ(client[Counter::tcps_connattempt], flows);
  EXPECT_EQ(client[Counter::tcps_connects], flows);
  EXPECT_EQ(client[Counter::tcps_closed], flows);
  EXPECT_EQ(server[Counter::tcps_accepts], flows);
  // A SYN sent again that is overtaken by its whole flow leaves one half open.
  EXPECT_EQ(server[Counter::tcps_closed], flows + server[Counter::tcps_conndrops]);
  EXPECT_EQ(client[Counter::tcps_rcvbyte], 32000 * flows);
  EXPECT_EQ(server[Counter::tcps_rcvbyte], 3 * flows);
}

}  // namespace engine
