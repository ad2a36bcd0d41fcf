#pragma once
// One connection at one moment, as Linux's TCP_INFO tells of its own.

#include "flow/context.h"

namespace engine::tcp {

/// What a flow itself does not keep: where its sequence numbers began, and when.
struct Beginning {
  Nanoseconds established = 0;
  uint32_t sent = 0;      ///< own initial sequence number
  uint32_t received = 0;  ///< the peer's
};

/// Of a flow whose handshake has just been completed, before anything is sent after it.
Beginning beginning_of(const Context& context, const Flow& flow);

struct Info {
  IpAddress local;
  IpAddress remote;
  uint16_t local_port = 0;
  uint16_t remote_port = 0;
  Side side = Side::client;
  FlowState state = FlowState::free;
  Nanoseconds age = 0;  ///< since the handshake
  bool timestamps = false;
  bool sack = false;
  bool ecn = false;
  bool scaling = false;
  uint8_t send_scale = 0;
  uint8_t receive_scale = 0;
  Nanoseconds timeout = 0;  ///< of retransmission, back-off included
  uint32_t rtt_us = 0;      ///< smoothed; 0: no sample yet
  uint32_t rtt_variation_us = 0;
  uint32_t slow_start_threshold = 0;  ///< bytes
  uint32_t congestion_window = 0;     ///< bytes
  uint32_t receive_window = 0;        ///< bytes
  uint32_t send_window = 0;           ///< bytes
  uint32_t received = 0;              ///< sequence numbers, SYN and FIN among them
  uint32_t sent = 0;
  uint16_t mss = 0;                ///< payload bytes per segment sent
  Nanoseconds since_received = 0;  ///< of the peer's last new byte, as far as it was looked at
};

Info info(Context& context, const Flow& flow, const Beginning& beginning);

}  // namespace engine::tcp
