#pragma once
// What a run tells of its templates, beside counters and latencies.

#include <vector>

#include "stats/payload_counts.h"
#include "stats/run_counters.h"
#include "stats/tls_counts.h"

namespace engine {

/// By template, on one core or on several together.
struct RunReport {
  std::vector<PayloadBlock> payload;  ///< empty without a payload check
  std::vector<TlsBlock> tls;          ///< empty where no template has TLS

  RunReport& operator+=(const RunReport& other) {
    add(payload, other.payload);
    add(tls, other.tls);
    return *this;
  }
};

}  // namespace engine
