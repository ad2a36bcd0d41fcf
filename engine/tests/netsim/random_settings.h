#pragma once
// Settings of connections drawn at random: sizes, windows, options, offloads, impairments.

#include <string>

#include "netsim/netsim.h"

namespace engine::netsim {

inline constexpr uint64_t kRandomFlows = 20;

class Draw {
 public:
  explicit Draw(uint64_t seed) : seed_(seed), random_(seed * 77'777 + 5) {}

  uint64_t below(uint64_t limit) { return random_.next() % limit; }
  bool one_in(uint64_t n) { return below(n) == 0; }
  /// 0 one time in three, else up to `most`.
  double probability(double most) {
    return one_in(3) ? 0 : most * static_cast<double>(below(1000)) / 1000;
  }

  ImpairmentSettings impairment() {
    ImpairmentSettings made;
    made.loss = probability(0.06);
    made.congestion = probability(0.1);
    made.duplication = probability(0.1);
    made.reordering = probability(0.2);
    made.corruption = probability(0.02);
    made.delay = static_cast<Nanoseconds>(1 + below(20'000)) * kMicrosecond;
    made.held = static_cast<Nanoseconds>(1 + below(5'000)) * kMicrosecond;
    return made;
  }

  std::string tunables() {
    std::string json = R"({"keepinit":60)";
    if (one_in(4)) json += R"(,"mss":)" + std::to_string(100 + below(500));
    if (one_in(2)) json += R"(,"do_sack":0)";
    if (one_in(2)) json += R"(,"do_rfc1323":0)";
    if (one_in(2)) json += R"(,"rxbufsize":)" + std::to_string(2048 + below(300'000));
    if (one_in(2)) json += R"(,"initwnd":)" + std::to_string(1 + below(20));
    if (one_in(2)) json += R"(,"no_delay":)" + std::to_string(below(4));
    if (one_in(2)) json += R"(,"do_ecn":)" + std::to_string(below(3));
    if (one_in(2)) json += R"(,"cc_algo":1)";
    return json + "}";
  }

  Settings settings() {
    Settings settings;
    settings.seed = seed_;
    settings.burst = seed_ % 2 == 0 ? 1 : 32;
    settings.to_server = impairment();
    settings.to_client = impairment();
    if (one_in(3)) {
      // A device that vouches for checksums would not see what the wire corrupts.
      settings.offloads = {.checksum = true, .max_payload = 60'000};
      settings.device_cuts = seed_ % 3 != 0;
      settings.to_server.corruption = settings.to_client.corruption = 0;
    }
    return settings;
  }

  HttpLike http() {
    HttpLike http;
    http.request = static_cast<uint32_t>(1 + below(5'000));
    http.response = static_cast<uint32_t>(1 + below(one_in(8) ? 500'000 : 40'000));
    http.cps = 50;
    http.limit = kRandomFlows;
    http.client_tcp = tunables();
    http.server_tcp = tunables();
    return http;
  }

 private:
  uint64_t seed_;
  Random random_;
};

}  // namespace engine::netsim
