#pragma once
// What a port answers and sends by itself: ARP, neighbour discovery, ICMP echo, latency streams.

#include <array>

#include "astf/core.h"
#include "astf/table_counts.h"
#include "flow/context.h"
#include "net/latency_stream.h"
#include "net/responder.h"

namespace engine {

struct PortServices {
  PortServices(const CoreConfig& config, Context& context, TableCounts& counts)
      : responders{PortResponder(config.ports[0], config.gateways[0], context.l2_headers[0],
                                 *context.transmit[0]),
                   PortResponder(config.ports[1], config.gateways[1], context.l2_headers[1],
                                 *context.transmit[1])},
        latency_streams{LatencyStream(Side::client, context.l2_headers[0], *context.transmit[0]),
                        LatencyStream(Side::server, context.l2_headers[1], *context.transmit[1])},
        counts_(counts) {}

  void receive(Side side, const RxSegment& segment, Nanoseconds now) {
    CounterBlock& counters = counts_.of(side);
    ++counters[Counter::err_no_tcp_udp];
    ++counters[Counter::redirect_rx_ok];
    if (!latency_streams[index_of(side)].receive(segment, now) &&
        !responders[index_of(side)].receive(segment, now))
      ++counts_.dropped(side)[Drop::unknown_protocol];
  }
  /// Sends what is due. Returns how much of it was not the upkeep of neighbours.
  size_t advance(Nanoseconds now) {
    for (PortResponder& responder : responders) {
      responder.follow(now);
      if (responder.next_deadline() <= now) responder.advance(now);
    }
    size_t work = 0;
    for (LatencyStream& stream : latency_streams)
      if (stream.next_deadline() <= now) {
        stream.advance(now);
        ++work;
      }
    return work;
  }

  std::array<PortResponder, kSides> responders;
  std::array<LatencyStream, kSides> latency_streams;

 private:
  TableCounts& counts_;
};

}  // namespace engine
