#pragma once
// How a run is asked for, and how it goes.

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "astf/topology.h"
#include "base/side.h"
#include "base/time.h"
#include "tls/options.h"

namespace engine {

/// Whether received payload is compared with what the other end's program sends.
struct PayloadCheckOptions {
  bool enabled = false;
  uint64_t skip_bytes = 0;  ///< of the beginning of each connection, each way, are not compared
};

/// How a profile is run (arguments of the `start` method).
struct RunOptions {
  double multiplier = 1;
  Nanoseconds duration = 0;  ///< <= 0: no end
  /// nullptr: all clients are directly behind the port.
  std::shared_ptr<const Topology> topology = nullptr;
  PayloadCheckOptions payload_check;
  /// By template; nullptr, or none at all: without TLS.
  std::vector<std::shared_ptr<const tls::Options>> tls{};
  bool opens_flows = true;     ///< false: server side only (client_mask excludes the pair)
  bool samples_flows = false;  ///< `sampled_flows` is going to be asked for
  /// The longest IP packet that each port of the pair sends, bytes; 0: any. Flows offer and send no
  /// longer segments, whatever their template has.
  std::array<uint32_t, kSides> mtus{};
  std::array<bool, kSides> tags_count{};  ///< VLAN tags take some of that (tag_bytes_in_mtu)

  /// Whether received payload is looked at, and not only counted.
  bool reads_payload() const {
    return payload_check.enabled ||
           std::ranges::any_of(tls, [](const auto& each) { return each != nullptr; });
  }
};

/// What becomes of open flows when a run ends.
enum class RunPhase : uint8_t {
  opening,   ///< flows are opened by schedule
  draining,  ///< no new flows; open ones finish on their own
  closing,   ///< nothing listens; remaining flows are removed without FIN or RST (TRex: nc)
  closed,    ///< nothing listens or is open
};

/// State of one run on one core, or on several together.
struct RunStatus {
  RunPhase phase = RunPhase::closed;
  uint64_t client_flows = 0;  ///< open now
  uint64_t server_flows = 0;
  uint64_t intended = 0;      ///< starts due so far by schedule
  uint64_t opened = 0;        ///< of those, flows opened
  uint64_t late = 0;          ///< opened more than 1 ms after the intended time
  uint64_t unsent = 0;        ///< due but given up: no port, table full, no buffer
  uint64_t held_wanted = 0;   ///< flows to be held open now
  uint64_t held_opened = 0;   ///< opened to hold them, replacements among them
  uint64_t held_refused = 0;  ///< tries at that which failed
  uint64_t established = 0;   ///< flows of this run that were ever established (both sides)

  /// Of another core: sums, and the phase that is the least advanced.
  RunStatus& operator+=(const RunStatus& other);
};

}  // namespace engine
