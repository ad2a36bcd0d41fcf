#pragma once
// What two ends of a memif (shared memory packet interface, version 2.0) send each other over a
// Unix socket of type SOCK_SEQPACKET, and the rings in the memory that they share. The client makes
// the memory, the server maps it. Source: the protocol's description in libmemif (of VPP) and in
// the guide to DPDK's memif driver.

#include <cstdint>

namespace engine::memif {

inline constexpr uint16_t kVersion = 2 << 8;
inline constexpr uint32_t kCookie = 0x3E31F20;
inline constexpr uint32_t kMostRingBits = 14;
inline constexpr uint32_t kMostQueues = 255;
inline constexpr uint32_t kMostRegions = 256;

enum class MessageType : uint16_t {
  none,
  ack,
  hello,       ///< by the server, first
  init,        ///< by the client: which interface of the server it wants
  add_region,  ///< by the client, with a file
  add_ring,    ///< by the client, with an eventfd
  connect,     ///< by the client: that was all
  connected,   ///< by the server
  disconnect,  ///< by either
};

struct [[gnu::packed]] Hello {
  char name[32];
  uint16_t least_version;
  uint16_t most_version;
  uint16_t last_region;
  uint16_t last_ring_to_client;
  uint16_t last_ring_to_server;
  uint8_t most_ring_bits;
};

struct [[gnu::packed]] Init {
  uint16_t version;
  uint32_t id;
  uint8_t mode;  ///< 0: Ethernet
  char secret[24];
  char name[32];
};

struct [[gnu::packed]] AddRegion {
  uint16_t index;
  uint64_t bytes;
};

struct [[gnu::packed]] AddRing {
  static constexpr uint16_t kToServer = 1;

  uint16_t flags;
  uint16_t index;
  uint16_t region;
  uint32_t offset;
  uint8_t ring_bits;
  uint16_t private_header;
};

struct [[gnu::packed]] Connect {
  char interface[32];
};

struct [[gnu::packed]] Disconnect {
  uint32_t code;
  char reason[96];
};

struct [[gnu::packed, gnu::aligned(128)]] Message {
  MessageType type;
  union {
    Hello hello;
    Init init;
    AddRegion add_region;
    AddRing add_ring;
    Connect connect;  ///< and connected
    Disconnect disconnect;
  };
};
static_assert(sizeof(Message) == 128);

struct Descriptor {
  static constexpr uint16_t kNext = 1;  ///< the frame goes on in the next one

  uint16_t flags;
  uint16_t region;
  uint32_t length;  ///< of what is there, or of the room for it
  uint32_t offset;
  uint32_t metadata;
};
static_assert(sizeof(Descriptor) == 16);

/// Both positions only grow; a descriptor's place is a position modulo the ring's size. The client
/// writes `head`, the server `tail`: to the server go the frames between tail and head, to the
/// client there is room between them. A ring need not begin at a cache line.
struct RingHeader {
  static constexpr uint16_t kNoInterrupt = 1;  ///< the receiver polls

  uint32_t cookie;
  uint16_t flags;
  uint16_t head;
  uint8_t in_first_line[56];
  uint16_t tail;
  uint8_t in_second_line[62];
  Descriptor descriptors[];
};
static_assert(sizeof(RingHeader) == 128);

}  // namespace engine::memif
