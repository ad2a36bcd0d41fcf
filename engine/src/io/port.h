#pragma once
// What every kind of port offers: to its data cores a queue each, to the control thread its state.

#include <cstring>
#include <memory>
#include <optional>
#include <span>

#include "control/ports.h"
#include "net/frame.h"

namespace engine {

/// Which received frames are for a port.
struct AddressFilter {
  MacAddress mac{};
  bool promiscuous = true;

  /// `destination`: where a frame begins. Group addresses always pass.
  bool passes(const uint8_t* destination) const {
    return promiscuous || (destination[0] & 1) != 0 ||
           std::memcmp(destination, mac.data(), mac.size()) == 0;
  }
};

/// Packet buffers of one queue.
struct BufferPool {
  uint32_t object_bytes = 0;    ///< what one holds of a frame, head room included
  uint32_t count = 0;           ///< 0: the queue has none of its own
  uint32_t free = 0;            ///< neither filled nor with the device
  uint64_t reserved_bytes = 0;  ///< memory for all of them
};

class ExternalPayload;

/// One port's frames of one data core. Used by that core's thread alone.
class PortQueue : private TransmitDevice {
 public:
  PortQueue(const PortQueue&) = delete;
  PortQueue& operator=(const PortQueue&) = delete;
  virtual ~PortQueue() = default;

  /// Frames that wait at most for room in a device; more are dropped (Drop::device_full). A burst
  /// of requests may be answered by more frames than a device's ring holds.
  static constexpr size_t kWaiting = 4096;

  /// Frames that arrived, at most TransmitQueue::kBurst; they live until `release`.
  virtual std::span<const Frame> receive() = 0;
  /// Gives back the frames of the last `receive`.
  virtual void release() = 0;
  TransmitQueue& transmit() { return transmit_; }
  /// Readable when a frame has arrived (poll(2)); -1: a device that has to be polled.
  virtual int descriptor() const { return -1; }
  /// Sends what waits for room in the device. Returns how many frames still wait.
  virtual size_t send_waiting() { return 0; }

  /// Own address and whether foreign ones are received as well, as they are until this is called.
  void set_filter(const MacAddress& mac, bool promiscuous) { filter_ = {mac, promiscuous}; }

  /// Frames with payload of that profile may refer to `payload` from now on, in a port that
  /// `refers_to_payload`. Until `forget`, which is called once no frame comes with it any more.
  virtual void refer_to(const std::shared_ptr<const ExternalPayload>& payload) {}
  virtual void forget(const std::shared_ptr<const ExternalPayload>& payload) {}

  virtual BufferPool buffers() const { return {}; }
  const PortCounters& counters() const { return counters_; }
  /// What this queue gave up; of frames to send, those that a device counts in oerrors.
  const Drops& drops() const { return drops_; }
  /// How many of the frames sent (counters().opackets) refer to payload elsewhere no more.
  virtual uint64_t payload_released() const { return counters_.opackets; }
  /// Cycles of the time-stamp counter in the calls that hand frames to a device: of one behind the
  /// kernel its copies and its wire, of a NIC little more than descriptors. 0 without a device.
  uint64_t sending_cycles() const { return sending_; }
  /// Cycles in which frames were made the device's packets: payload is copied into their buffers,
  /// and offloads are asked for. 0 of a device that copies in the calls above.
  uint64_t copying_cycles() const { return copying_; }

 protected:
  explicit PortQueue(DeviceOffloads offloads) : transmit_(*this, offloads) {}

  uint64_t sending_ = 0;
  uint64_t copying_ = 0;
  PortCounters counters_;
  Drops drops_;
  AddressFilter filter_;

 private:
  TransmitQueue transmit_;
};

/// A port as the control thread sees it.
class Port {
 public:
  virtual ~Port() = default;

  const PortInfo& info() const { return info_; }
  /// The device's own address.
  const MacAddress& mac() const { return mac_; }
  virtual bool link_up() const { return true; }
  /// The longest IP packet that it sends now, bytes; 0: any.
  virtual uint32_t mtu() const { return 0; }
  /// Whether VLAN tags of frames to send count against that (tag_bytes_in_mtu).
  virtual bool counts_tags() const { return false; }
  /// Whether the device itself is to pass on frames for others.
  virtual void set_promiscuous(bool enabled) {}
  /// Has the device pass on frames for `mac`, which is not its own. False: it cannot be told.
  virtual bool receive_for(const MacAddress& mac) { return true; }
  /// Has payload received as well as headers, or no more: few read it. Without this a port may have
  /// it in part, or where a peer can write to it.
  virtual void receive_whole(bool enabled) {}
  /// Whether its device sends packets whose payload lies in DPDK's memory, without a copy.
  virtual bool refers_to_payload() const { return false; }
  /// Takes the link up or down. False: the device cannot.
  virtual bool set_link(bool up) { return false; }
  /// Sets IEEE 802.3x flow control: 0 none, 1 obeys pauses, 2 sends them, 3 both. False: it cannot.
  virtual bool set_flow_control(int mode) { return false; }
  /// As set_flow_control counts; nullopt: the device has none.
  virtual std::optional<int> flow_control() const { return std::nullopt; }
  /// The device's own statistics by name.
  virtual std::vector<std::pair<std::string, uint64_t>> extended_statistics() const { return {}; }
  /// What the device lost, beyond what its queues count: frames that it received (ierrors), and
  /// frames that it took and did not send (oerrors).
  virtual PortCounters losses() const { return {}; }

  /// The queue of the pair's data core `core` (0 to cores per pair - 1).
  PortQueue& queue(uint32_t core) { return *queues_.at(core); }

 protected:
  PortInfo info_;
  MacAddress mac_{};
  std::vector<std::unique_ptr<PortQueue>> queues_;
};

/// The address of a port without a device: locally administered (IEEE 802), unique in the process.
inline MacAddress local_mac(uint32_t port) {
  return {0x02, 0, 0, 0, static_cast<uint8_t>(port >> 8), static_cast<uint8_t>(port)};
}

/// Payload bytes a port takes in one frame when nothing needs to be cut: what an IP packet holds
/// beside the longest IPv4 and TCP headers.
inline constexpr uint32_t kUncutPayload = 65535 - 60 - 60;

}  // namespace engine
