#pragma once
// Service mode: received frames that go to the port's services instead of to flows.

#include "net/rx_segment.h"

namespace engine {

/// Kinds of frames in ServiceMode::kinds (TRex's mask).
enum ServiceKind : uint8_t {
  kNoTcpUdp = 1,   ///< neither TCP nor UDP; always
  kBgp = 2,        ///< TCP, port 179 at either end
  kDhcp = 4,       ///< UDP, ports 67 and 68, or 546 and 547 over IPv6
  kTransport = 8,  ///< a port from 0xff00 on at either end
  kMdns = 16,      ///< UDP, port 5353 at either end
};

struct ServiceMode {
  bool enabled = false;   ///< everything goes to them ...
  bool filtered = false;  ///< ... or, with this alone or beside `enabled`, only what `kinds` names
  uint8_t kinds = kNoTcpUdp;

  bool operator==(const ServiceMode&) const = default;
};

/// Whether `mode` keeps a received frame from the flows.
bool is_for_service(const ServiceMode& mode, const RxSegment& segment);

}  // namespace engine
