#pragma once
// What all flows of one side of one template have in common.

#include <cstdint>
#include <vector>

#include "base/side.h"
#include "flow/buffer.h"
#include "flow/timer_kind.h"
#include "flow/tunables.h"
#include "stats/counters.h"
#include "stats/latency.h"

namespace engine {

struct Program;
class L2HeaderTable;
class TransmitQueue;
namespace tcp {
class StreamCoder;
}

/// As far as TCP, UDP and programs act upon it. Flows hold its number.
struct FlowClass {
  const Program* program = nullptr;  ///< carried for the layer that runs it
  const Tunables* tunables = nullptr;
  const std::vector<Buffer>* buffers = nullptr;  ///< that TCP or UDP sends from
  tcp::StreamCoder* coder = nullptr;             ///< between TCP and the program; nullptr: none
  CounterBlock* counters = nullptr;
  LatencyBlock* latency = nullptr;      ///< of a client's template; nullptr: not recorded
  TransmitQueue* transmit = nullptr;    ///< of its side's port
  L2HeaderTable* l2_headers = nullptr;  ///< that port's
  Side side = Side::client;
  bool only_slow_path = false;  ///< its flows do not take TCP's fast path
  bool tags_count = false;      ///< VLAN tags take some of `mtu` (tag_bytes_in_mtu)
  uint32_t mtu = 0;             ///< the longest IP packet of its port, bytes; 0: any

  // What follows from the tunables; of headers, over IPv4:
  /// A frame from the EtherType to the IP header's checksum, which is 0, and two bytes more. They
  /// are written over, as the length is: one store.
  uint8_t ipv4_head[16]{};
  uint32_t windows[2]{};      ///< the window field: without scaling (RFC 7323), and with it
  uint8_t offers = 0;         ///< options of a SYN: tcp::OfferFlag bits
  uint8_t receive_scale = 0;  ///< for a window of the receive buffer (RFC 7323), if it may scale
  Tick keep_init = 0;
  Tick keep_idle = 0;

  void set_tunables(const Tunables& those);
};

}  // namespace engine
