#pragma once
// Layer-2 headers, kept once however many flows use them.

#include <array>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <type_traits>
#include <vector>

namespace engine {

using MacAddress = std::array<uint8_t, 6>;

inline constexpr uint32_t kVlanIdMask = 0x0fff;

/// The VLAN tags of a frame, of which there are at most two (QinQ). Each is what the wire has: its
/// type in the upper half (IEEE 802.1Q: 0x8100; the S-tag of 802.1ad: 0x88a8), tag control
/// information in the lower one. 0: there is none.
struct VlanTags {
  uint32_t outer = 0;
  uint32_t inner = 0;  ///< only behind an outer one

  bool any() const { return outer != 0; }
  bool operator==(const VlanTags&) const = default;
  /// Without priorities, which are no part of a network's name. A tag that has a priority alone
  /// (identifier 0) names no network.
  VlanTags network() const {
    const auto named = [](uint32_t tag) {
      return (tag & kVlanIdMask) == 0 ? 0 : tag & (0xffff'0000 | kVlanIdMask);
    };
    return {named(outer), named(inner)};
  }
};

/// An Ethernet header up to, not including, the EtherType of the payload (IEEE 802.3, 802.1Q).
struct L2Header {
  MacAddress destination{};
  MacAddress source{};
  VlanTags tags{};
  bool operator==(const L2Header& other) const {
    return std::memcmp(this, &other, sizeof other) == 0;
  }
  uint64_t hash() const {
    uint64_t begin, end;
    std::memcpy(&begin, this, sizeof begin);
    std::memcpy(&end, reinterpret_cast<const char*>(this) + sizeof begin, sizeof end);
    const unsigned __int128 product =
        static_cast<unsigned __int128>(begin ^ 0x9e37'79b9'7f4a'7c15) *
        (end ^ tags.inner * 0xff51'afd7'ed55'8ccd ^ 0xd1b5'4a32'd192'ed03);
    return static_cast<uint64_t>(product) ^ static_cast<uint64_t>(product >> 64);
  }
};

static_assert(std::has_unique_object_representations_v<L2Header> && sizeof(L2Header) == 20);

/// The layer-2 headers of one port on one data core. Index 0 is the port's own (its MAC, its
/// configured or resolved destination); others are learned from received frames and live as long as
/// the table. A hash finds them, in chains of one or two. It has a bucket for each header there can
/// be and never grows: no frame pays for headers that came before it.
class L2HeaderTable {
 public:
  static constexpr uint16_t kPort = 0;
  static constexpr size_t kMost = UINT16_MAX;  ///< beside the port's own
  static constexpr size_t kBuckets = size_t{1} << 16;

  explicit L2HeaderTable(const L2Header& port) : buckets_(std::make_unique<uint16_t[]>(kBuckets)) {
    headers_.reserve(kMost + 1);  // memory that is touched only as far as it fills
    next_.reserve(kMost + 1);
    headers_.push_back(port);
    next_.push_back(kNone);
  }

  /// Replaces the port's own header; flows that use it follow at once.
  void set_port(const L2Header& port) {
    headers_[kPort] = port;
    if (sent_index_ == kPort) sent_index_ = kNobody;
  }
  const L2Header& operator[](uint16_t index) const { return headers_[index]; }

  /// The same, where it has no tags; nullptr: it has. Most frames go to one router, as the last one
  /// did.
  [[gnu::always_inline]] const L2Header* untagged(uint16_t index) {
    return index == sent_index_ || take_untagged(index) ? &sent_ : nullptr;
  }

  /// The index of `header`, added when new. Full: the port's own.
  uint16_t intern(const L2Header& header) {
    if (headers_[last_] == header) return last_;
    uint16_t& first = buckets_[header.hash() % kBuckets];
    for (uint16_t index = first; index != kNone; index = next_[index])
      if (headers_[index] == header) return last_ = index;
    if (headers_.size() > kMost) return kPort;
    headers_.push_back(header);
    next_.push_back(first);
    return last_ = first = static_cast<uint16_t>(headers_.size() - 1);
  }
  /// The index that `intern` returned last, and whether it is that of the answer to an untagged
  /// frame that begins with `head`: most frames come from one router.
  uint16_t last() const { return last_; }
  bool last_answers(const uint8_t* head) const {
    const L2Header& header = headers_[last_];
    return !header.tags.any() && std::memcmp(head + 6, header.destination.data(), 6) == 0 &&
           std::memcmp(head, header.source.data(), 6) == 0 && head[12] != kTagged &&
           head[12] != kServiceTagged;
  }

 private:
  static constexpr uint16_t kNone = kPort;  ///< the port's own is in no bucket
  static constexpr uint32_t kNobody = UINT32_MAX;
  static constexpr uint8_t kTagged = 0x81;  ///< EtherTypes of tags begin so
  static constexpr uint8_t kServiceTagged = 0x88;

  [[gnu::noinline]] bool take_untagged(uint16_t index) {
    if (headers_[index].tags.any()) return false;
    sent_ = headers_[index];
    sent_index_ = index;
    return true;
  }

  uint32_t sent_index_ = kNobody;  ///< of the header that `sent_` is a copy of
  L2Header sent_;
  std::vector<L2Header> headers_;
  std::vector<uint16_t> next_;           ///< of each, the next one in its bucket
  std::unique_ptr<uint16_t[]> buckets_;  ///< the first entry of each
  uint16_t last_ = kPort;
};

}  // namespace engine
