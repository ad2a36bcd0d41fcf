#pragma once
// Frames as the data path sees them: descriptors of memory that the I/O layer owns.

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

#include "net/ip.h"

namespace engine {

/// Room for headers in a frame to send: Ethernet + two VLANs (22), IPv6 (40), TCP with options
/// (60), and those of a tunnel around them (56).
inline constexpr size_t kHeadRoom = 192;

/// What is known of a frame's IP and transport checksums.
enum class Checksums : uint8_t {
  in_frame,  ///< sent: both are complete; received: unknown, to be verified
  partial,  ///< sent: the device completes them (IP field 0, transport field the pseudo-header sum)
  trusted,  ///< received: the device vouches for them
  either,   ///< received, and not known which: complete, or as a sender leaves them to its device
};

/// Lengths of the headers of a frame to send, TCP's with its options: for the device that completes
/// its checksums or cuts it.
struct HeaderLengths {
  uint8_t ethernet = 0;
  uint8_t ip = 0;
  uint8_t transport = 0;

  bool ipv4() const { return ip == kIpv4Length; }
  bool tcp() const { return transport != kUdpLength; }
};

/// One frame to send or received. `head`, which every frame has, holds the bytes from the Ethernet
/// header on. Payload either follows in `head` or, when `payload` is set, lies elsewhere in memory
/// that outlives the frame. A received frame with a payload_length and no `payload` is cut: so many
/// more bytes were on the wire, and the port has them no more.
struct Frame {
  uint8_t* head = nullptr;
  const uint8_t* payload = nullptr;
  uint32_t payload_length = 0;  ///< bytes at `payload`
  uint16_t head_length = 0;     ///< bytes used at `head`
  uint16_t segment_size = 0;    ///< payload bytes per segment that the device is to cut; 0: none
  Checksums checksums = Checksums::in_frame;
  HeaderLengths headers{};  ///< with partial checksums
  /// To send: `payload` lasts only until the device has been given the frame.
  bool passing = false;
  void* owner = nullptr;  ///< the I/O layer's buffer behind `head`

  size_t length() const { return size_t{head_length} + payload_length; }
  /// Whether the device is to cut the payload into segments.
  bool to_be_cut() const { return segment_size != 0 && payload_length > segment_size; }
};

/// What a device does with a frame beyond sending it.
struct DeviceOffloads {
  bool checksum = false;  ///< completes Checksums::partial
  uint32_t max_payload =
      0;  ///< payload bytes it cuts into segments of segment_size; 0: none (no TSO)
};

/// Where a transmit queue's frames go: a port, or what stands in front of it.
class TransmitDevice {
 public:
  /// Sends `frames`, of which there are 1 to TransmitQueue::kBurst. Each has a head; payload is by
  /// reference. Frames that it cannot send are lost, and it counts them. It leaves each frame a
  /// head of kHeadRoom bytes to be written anew, the same or another one, or nullptr where it has
  /// none now.
  virtual void send(std::span<Frame> frames) = 0;
  /// Gives `slot`, which has no head, one of kHeadRoom bytes, or leaves it as it is when it has
  /// none now. A device that leaves a head to every frame it sends is asked at most kBurst times.
  virtual void refill(Frame& slot) = 0;

 protected:
  ~TransmitDevice() = default;
};

/// Frames of one data core on their way to one port. The core fills slots; a full queue, or the end
/// of a burst, hands them to the device in one call.
class TransmitQueue {
 public:
  static constexpr size_t kBurst = 64;

  /// `device` outlives the queue and is not called before a frame is asked for.
  TransmitQueue(TransmitDevice& device, DeviceOffloads offloads)
      : device_(&device), offloads_(offloads) {}
  TransmitQueue(const TransmitQueue&) = delete;
  TransmitQueue& operator=(const TransmitQueue&) = delete;

  /// The slot to fill next, or nullptr when there is no buffer; `commit` makes it count.
  Frame* next() {
    Frame* const slot = next_as_it_is();
    if (slot == nullptr) return nullptr;
    slot->payload = nullptr;
    slot->payload_length = 0;
    slot->segment_size = 0;
    slot->checksums = Checksums::in_frame;
    return slot;
  }
  /// The same for who sets all of its fields.
  [[gnu::always_inline]] Frame* next_as_it_is() {
    if (next_->head == nullptr) [[unlikely]]
      return make_room();
    return next_;
  }
  void commit() { ++next_; }

  /// Hands all committed frames to the device.
  void flush();

  TransmitDevice& device() const { return *device_; }
  /// Puts `device` in the place of the present one, which it may call on. Returns that.
  TransmitDevice& redirect(TransmitDevice& device) { return *std::exchange(device_, &device); }

  const DeviceOffloads& offloads() const { return offloads_; }
  /// Of frames from now on: not more than the device does.
  void set_offloads(const DeviceOffloads& offloads) { offloads_ = offloads; }
  /// How often there was no buffer for a frame.
  uint64_t without_buffer() const { return without_buffer_; }

 private:
  /// The slot to fill next, which has no head, or is behind the last one. nullptr as for `next`.
  Frame* make_room();

  Frame slots_[kBurst + 1];  ///< the last one never has a head, so that one test tells both
  Frame* next_ = slots_;     ///< the one to fill; those before it are committed
  uint64_t without_buffer_ = 0;
  TransmitDevice* device_;
  DeviceOffloads offloads_;
};

}  // namespace engine
