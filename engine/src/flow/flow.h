#pragma once
// One end of one connection (TCP) or exchange (UDP), in three cache lines.

#include <cstdint>

#include "flow/flow_identity.h"
#include "flow/timer_kind.h"

namespace engine {

/// TCP connection states, RFC 9293 section 3.3.2; `free` marks an unused struct, `datagram` UDP.
enum class FlowState : uint8_t {
  free,
  datagram,
  syn_sent,
  syn_received,
  established,
  fin_wait_1,
  fin_wait_2,
  close_wait,
  closing,
  last_ack,
  time_wait,
};

/// What a program waits for. The low bits are those of the tcp::Event that ends the wait, if one
/// does (program::wakes); the high ones tell those that are ended by the same from each other.
enum class Wait : uint8_t {
  nothing = 0x00,          ///< may run
  connected = 0x01,        ///< ESTABLISHED
  received = 0x02,         ///< rx, rx_msg: enough bytes or datagrams
  acknowledged = 0x04,     ///< blocking tx: everything queued is acknowledged
  space = 0x24,            ///< non-blocking tx: the send queue is below half of the transmit buffer
  peer_close = 0x08,       ///< nc: the peer's FIN
  template_choice = 0x28,  ///< not begun: the first payload tells which template's program it is
  time = 0x20,             ///< delay
  execution = 0x40,        ///< exec_template: the timer, upon which a flow is opened
  child = 0x60,            ///< exec_template: the end of the flow opened
  ended = 0x80,            ///< the program is over; the flow closes by itself
};

enum FlowFlag : uint32_t {
  kFinQueued = 1 << 0,   ///< FIN follows the stream's last byte; the bit of FIN in a TCP header
  kAckNow = 1 << 1,      ///< an ACK is owed at once
  kFastPath = 1 << 2,    ///< TCP's fast path may be taken (tcp::update_fast_path_flag)
  kPeerFin = 1 << 3,     ///< the peer's FIN was received in order
  kTimestamps = 1 << 4,  ///< both sides sent the option (RFC 7323)
  kSack = 1 << 5,        ///< both sides permitted SACK (RFC 2018)
  kScaling = 1 << 6,     ///< both sides sent the window scale option (RFC 7323)
  kEcn = 1 << 7,         ///< both sides agreed on ECN (RFC 3168)
  kEcnEcho = 1 << 8,     ///< CE was received: ACKs carry ECE until the peer's CWR
  kEverEstablished = 1 << 9,
  kReceiveOnlyKeepalive = 1 << 10,     ///< UDP keepalive with rx_mode
  kGoingBack = 1 << 11,                ///< resending all from snd_una on, until `recover`
  kPortOwned = 1 << 12,                ///< local port is to be given back to the client pool
  kFastRecovery = 1 << 13,             ///< RFC 6582 or RFC 6675 loss recovery until `recover`
  kRttTiming = 1 << 14,                ///< the segment ending at rtt_sequence is being timed
  kNonBlocking = 1 << 15,              ///< tx_mode
  kEcnReduced = 1 << 16,               ///< the window was reduced for an ECE, until `recover`
  kCongestionWindowReduced = 1 << 17,  ///< CWR goes with the next new data
  kProbing = 1 << 18,                  ///< a tail loss probe was sent, `recover` is its TLP.end_seq
  kProbedAgain = 1 << 19,              ///< that probe was a retransmission
  kServerSide = 1 << 20,
  kIpv6 = 1 << 21,
  kResendFirst = 1 << 23,  ///< loss recovery is to resend at snd_una: there was no frame buffer
  kAnswered = 1 << 24,     ///< it has answered an empty segment, at `answered`
};

/// Comparisons in sequence space, RFC 9293 section 3.4.
inline bool before(uint32_t a, uint32_t b) {
  return static_cast<int32_t>(a - b) < 0;
}
inline bool after(uint32_t a, uint32_t b) {
  return static_cast<int32_t>(a - b) > 0;
}

/// The first line of a flow: who it is, and what every received segment touches. In TIME_WAIT it is
/// all that is kept of most connections (TimeWaits).
struct alignas(64) FlowHead : FlowIdentity {
  uint32_t flow_class;  ///< number of its FlowClass
  FlowState state = FlowState::free;
  Wait wait;
  union {
    /// With kAnswered: when, in kAnswerInterval. It comes round after 9 hours, longer than a kernel
    /// leaves between two keepalive probes that are not answered.
    uint16_t answered;
    uint16_t delay;  ///< in TimeWaits: ticks from the beginning of its chunk to its end
  };
  uint32_t rcv_nxt;
  uint32_t snd_una;
  uint32_t snd_nxt;
  uint32_t snd_max;    ///< one past the highest sequence number ever sent
  uint32_t snd_wnd;    ///< peer's window, bytes
  uint32_t ts_recent;  ///< RFC 7323 section 4.3
  uint32_t flags;      ///< FlowFlag bits
  uint16_t l2_header;  ///< layer-2 header, number in the side's L2HeaderTable
  uint8_t scales;      ///< window scale (0: none): high half the peer's, low half ours
  uint8_t duplicate_acks;

  bool has(FlowFlag flag) const { return (flags & flag) != 0; }
  void set(FlowFlag flag) { flags |= flag; }
  void clear(FlowFlag flag) { flags &= ~uint32_t{flag}; }
  uint8_t send_scale() const { return scales >> 4; }
  uint8_t receive_scale() const { return scales & 15; }
};

static_assert(sizeof(FlowHead) == 64, "a connection in TIME_WAIT has one cache line");

struct Flow : FlowHead {
  static constexpr uint32_t kNone = UINT32_MAX;

  // -- second line: sending and congestion control -----------------------------------------------
  uint32_t snd_end;  ///< one past the last byte queued; a queued FIN has this number
  uint32_t last_ack_sent;
  union {
    uint32_t cwnd;         ///< congestion window, bytes
    uint32_t udp_idle_ms;  ///< UDP: idle time after which the flow ends
  };
  uint32_t ssthresh;
  uint32_t snd_wl1;
  uint32_t snd_wl2;
  uint32_t recover;  ///< snd_max when loss was found (RFC 6582), ECE came or a probe was sent
  uint32_t rtt_sequence;
  uint32_t rtt_tick;
  uint32_t srtt_us;  ///< 0: no sample yet
  uint32_t rttvar_us;
  uint16_t mss;  ///< payload bytes per segment sent, options already taken off
  uint16_t program_counter;
  uint64_t rx_available;  ///< received bytes (UDP: datagrams) that no rx has consumed yet
  uint32_t tx_base;       ///< sequence number of the first byte of tx_buffer
  uint32_t tx_buffer;     ///< buffer being sent; Flow::kNone: none

  // -- third line, of which 16 bytes are free: timers, and what few flows need -------------------
  uint32_t timer_next;
  uint32_t timer_previous;
  uint32_t timer_tick;  ///< when the wheel looks at this flow; at or before its earliest deadline
  uint16_t timer_slot;  ///< list of the wheel it stands in, or TimerWheel::kNowhere
  uint8_t retransmissions;  ///< in a row, without an acknowledgement between
  uint8_t probes;  ///< of keepalive or a closed window, in a row, without a segment between
  uint32_t deadlines[kTimerKinds];
  uint32_t intended_start;  ///< when it was due, see flow/latency.h; server side: not used
  uint32_t extension;  ///< what few flows need: out-of-order ranges, scoreboard, queued buffers
  uint32_t variables;  ///< VariableBlock, when the program uses variables
  uint8_t armed;       ///< bit per TimerKind
  RetransmitPurpose retransmit_purpose;
  uint16_t pauses;  ///< of a program that went on and on, in a row: see program/interpreter.h

  /// A flow in the pool's free list is in no bucket of the flow table.
  uint32_t& pool_next() { return table_next; }
};

static_assert(sizeof(Flow) == 192, "three cache lines: a flow's cost is part of the product");

}  // namespace engine
