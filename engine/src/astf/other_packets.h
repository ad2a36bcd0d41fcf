#pragma once
// Received packets that are no segments of TCP: datagrams, routers' messages, what ports answer.

#include "astf/open_flows.h"
#include "astf/port_services.h"
#include "astf/rx_burst.h"
#include "astf/unmatched.h"
#include "net/path_mtu.h"
#include "tcp/tcp.h"

namespace engine {

class OtherPackets {
 public:
  OtherPackets(Context& context, Classes& classes, OpenFlows& flows, Unmatched& unmatched,
               PortServices& services, TableCounts& counts)
      : context_(context),
        classes_(classes),
        flows_(flows),
        unmatched_(unmatched),
        services_(services),
        counts_(counts) {}

  void process(Side side, const RxPacket& p);

 private:
  void process_udp(Side side, const RxPacket& p);
  /// A router says that a packet was too long for its path.
  void process_path_mtu(Side side, const RxPacket& p);
  /// The flow that sent `packet`; nullptr: none did.
  Flow* sender_of(Side side, const TooLongPacket& packet);

  Context& context_;
  Classes& classes_;
  OpenFlows& flows_;
  Unmatched& unmatched_;
  PortServices& services_;
  TableCounts& counts_;
};

}  // namespace engine
