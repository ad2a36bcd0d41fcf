#pragma once
// A profile's payload where devices can read it, so that packets refer to it and nobody copies it
// (DPDK's external buffers: Programmer's Guide, "Mbuf Library").

#include <rte_mbuf.h>
#include <rte_memzone.h>

#include <memory>
#include <vector>

#include "flow/buffer.h"

namespace engine {

/// A copy of a profile's buffers in DPDK's memory: one piece, for devices that go by physical
/// addresses as well. It never changes.
class ExternalPayload {
 public:
  /// The fewest bytes of a frame's payload that are worth a buffer of their own: over ring ports,
  /// copying is faster at 400 bytes and slower at 1,000.
  static constexpr uint32_t kWorthwhile = 1024;
  /// The most bytes in one buffer: what a transmit descriptor of Intel's 10 to 100 Gbit/s NICs has
  /// room for (14 bits).
  static constexpr uint32_t kMost = 16'383;

  /// `buffers` stay where they are while `copy_at` is asked. nullptr: none is worthwhile, or DPDK
  /// has no memory for them.
  static std::shared_ptr<const ExternalPayload> copy_of(const std::vector<Buffer>& buffers);
  ~ExternalPayload();
  ExternalPayload(const ExternalPayload&) = delete;
  ExternalPayload& operator=(const ExternalPayload&) = delete;

  /// The copy of the byte at `original`; nullptr: it is in none of the buffers.
  uint8_t* copy_at(const uint8_t* original) const;
  /// The address by which devices read what stands at `copy`.
  rte_iova_t device_address(const uint8_t* copy) const {
    return zone_->iova + static_cast<rte_iova_t>(copy - static_cast<const uint8_t*>(zone_->addr));
  }

 private:
  struct Part {
    std::span<const uint8_t> original;
    uint8_t* copy = nullptr;
  };

  ExternalPayload(const rte_memzone* zone, std::vector<Part> parts)
      : zone_(zone), parts_(std::move(parts)) {}

  const rte_memzone* zone_;
  std::vector<Part> parts_;  ///< in the order of `original`
};

/// One queue's packets that refer to a payload. It lives until its queue and the last of them have
/// let go; a device frees packets some time after it has sent them.
class PayloadReferences {
 public:
  /// The queue itself is the first user, and calls `release` once; nobody else calls `attach`.
  static PayloadReferences* make(std::shared_ptr<const ExternalPayload> payload) {
    return new PayloadReferences(std::move(payload));
  }
  void release() {
    const auto own = static_cast<int16_t>(1 + spare_);
    if (rte_mbuf_ext_refcnt_update(&users_, static_cast<int16_t>(-own)) == 0) delete this;
  }

  const ExternalPayload& payload() const { return *payload_; }
  const std::shared_ptr<const ExternalPayload>& owner() const { return payload_; }
  /// Has `buffer`, which is empty, refer to `length` bytes of the payload at `copy`.
  void attach(rte_mbuf* buffer, uint8_t* copy, uint16_t length) {
    if (spare_ == 0) {
      rte_mbuf_ext_refcnt_update(&users_, kSpare);
      spare_ = kSpare;
    }
    --spare_;
    rte_pktmbuf_attach_extbuf(buffer, copy, payload_->device_address(copy), length, &users_);
    buffer->data_len = length;
  }

 private:
  /// Users counted in advance: an atomic addition for every packet would wait for all that was
  /// written before it.
  static constexpr int16_t kSpare = 1024;

  explicit PayloadReferences(std::shared_ptr<const ExternalPayload> payload);
  ~PayloadReferences() = default;

  std::shared_ptr<const ExternalPayload> payload_;
  rte_mbuf_ext_shared_info users_{};
  int16_t spare_ = 0;  ///< counted in users_, and of no packet yet
};

}  // namespace engine
