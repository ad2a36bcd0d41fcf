#pragma once
// Ports on packet sockets: an interface's frames as the kernel's own stack sees them. For each data
// core one socket: a ring that the kernel fills, and messages.

#include <linux/if_packet.h>
#include <sys/socket.h>

#include "base/raw_bytes.h"
#include "io/port.h"
#include "net/send_heads.h"

namespace engine {

/// What goes before a frame of a socket with PACKET_VNET_HDR: Virtual I/O Device (VIRTIO) 1.2,
/// section 5.1.6, in the machine's byte order (C++ cannot include linux/virtio_net.h).
struct OffloadHeader {
  uint8_t flags;
  uint8_t segmentation;  ///< gso_type
  uint16_t header_length;
  uint16_t segment_size;
  uint16_t checksum_start;
  uint16_t checksum_offset;  ///< of the field, from checksum_start

  static constexpr uint8_t kNeedsChecksum = 1;
  static constexpr uint8_t kChecksumValid = 2;
};

/// What a socket needs to know of its interface.
struct LinkLayer {
  int interface = 0;  ///< its index
  uint32_t mtu = 0;   ///< bytes of an IP packet
  MacAddress mac{};   ///< that the interface is to receive for, beside its own
};

/// A file descriptor, closed at its end.
struct Descriptor {
  int number = -1;

  explicit Descriptor(int opened) : number(opened) {}
  ~Descriptor();
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
};

/// Received frames lie in the ring and are read there. A slot holds any frame of the link's MTU
/// whole. Of a longer one, coalesced by the kernel, it holds the beginning: headers and the first
/// payload bytes. Few read more, so the kernel need not copy more. For those who do, the kernel
/// queues the frame beside the ring as well (packet(7), PACKET_COPY_THRESH).
class PacketSocketQueue final : public PortQueue {
 public:
  /// Opens the socket; it receives from now on. Throws ConfigError.
  explicit PacketSocketQueue(const LinkLayer& link);
  ~PacketSocketQueue() override;

  static constexpr int kAlone = 0;
  /// Shares the interface's frames, by flow, with other sockets. `group`: of an earlier one, or
  /// kAlone for the first. Returns the group.
  int join(int group);
  /// Has the interface receive frames for any address.
  void ask_for_all(bool enabled);
  /// Has the interface pass on frames for this address as well.
  void receive_for(const MacAddress& mac);
  /// Frames that found the ring full. For the control thread.
  uint64_t lost();
  /// Has frames longer than a slot received whole, or no more. Where the kernel's queue for them is
  /// full, only their beginning comes. For the control thread, with `receive` on another one.
  void receive_whole(bool enabled);

  std::span<const Frame> receive() override;
  void release() override;
  int descriptor() const override { return socket_.number; }

 private:
  /// A frame on its way out: what is to be done to it, its head, its payload.
  struct Message {
    OffloadHeader offload;
    std::array<iovec, 3> parts;
  };

  /// A received frame, and what the kernel says beside it.
  struct Received {
    uint8_t* head;
    size_t length;  ///< bytes that are there
    size_t beyond;  ///< more bytes that were on the wire
    OffloadHeader offload;
    uint32_t status;  ///< whether it has a tag, of which type: TP_STATUS_VLAN_
    uint16_t tag;
    uint16_t tag_type;
  };

  void send(std::span<Frame> frames) override;
  void refill(Frame& slot) override { heads_.refill(slot); }
  /// Has the interface receive what it would not (packet(7), PACKET_ADD_MEMBERSHIP).
  void receive_also(int option, uint16_t what, const MacAddress& mac);
  void set(int option, int value, const char* what);
  void open_ring(const LinkLayer& link);
  tpacket2_hdr& slot(size_t ahead);
  Received in_slot(tpacket2_hdr& slot);
  Received from_queue(tpacket2_hdr& slot);
  bool read(Received received, Frame& frame);
  void describe(const Frame& frame, size_t position);
  void hand_over(std::span<mmsghdr> messages);
  void drop(Drop reason, size_t frames);
  void check(int result, const char* what) const;

  Descriptor socket_;
  int interface_ = 0;
  uint8_t* ring_ = nullptr;
  size_t slot_bytes_ = 0;
  size_t next_ = 0;      ///< the slot to read next
  size_t received_ = 0;  ///< slots out with the core
  uint64_t lost_ = 0;
  RawBytes whole_;  ///< frames that were longer than a slot, one place for each of `frames_`
  std::array<Frame, TransmitQueue::kBurst> frames_;

  SendHeads heads_;
  std::array<Message, TransmitQueue::kBurst> messages_;
  std::array<mmsghdr, TransmitQueue::kBurst> headers_{};
};

/// Opens `interface` by a packet socket for each of `cores` (packet(7); the kernel's
/// Documentation/networking/packet_mmap.rst). Between two kernels' stacks frames stay what they
/// are there: checksums not computed, TCP payload of up to 64 KB in one frame, not cut and not put
/// together again. Throws ConfigError.
std::unique_ptr<Port> open_packet_socket_port(const std::string& interface, uint32_t cores);

}  // namespace engine
