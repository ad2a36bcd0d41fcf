#pragma once
// Which of a port's data cores a flow belongs to. A NIC that spreads frames over its receive queues
// by receive-side scaling (RSS) finds the same core; frames of other devices are handed over.

#include <array>
#include <cstdint>

#include "net/address.h"

namespace engine {

/// Repeating 6d5a makes the Toeplitz hash the same in both directions of a flow.
inline constexpr uint16_t kSymmetricKey = 0x6d5a;

/// For each byte of a fold (below), the low one first: the low 7 bits of its Toeplitz hash.
using EntriesOfBytes = std::array<std::array<uint8_t, 256>, 2>;

// A set bit of the input adds the 32 bits of the key from its place on, of which the last matter.
constexpr EntriesOfBytes entries_of_bytes() {
  constexpr uint64_t key = 0x0001'0001'0001ULL * kSymmetricKey;
  EntriesOfBytes entries{};
  for (uint32_t bit = 0; bit < 16; ++bit)
    for (uint32_t byte = 0; byte < 256; ++byte)
      if ((byte >> (bit % 8) & 1) != 0) entries[bit / 8][byte] ^= (key >> (bit + 1)) & 0x7f;
  return entries;
}

/// The core of a flow, by the Toeplitz hash over addresses and ports (as NICs have it for TCP and
/// UDP) under the symmetric key, and a table of 128 entries that names the cores in turn.
///
/// A key of two bytes again and again makes the hash a function of 16 bits: the exclusive-or of all
/// 16-bit words of the addresses and ports, called the fold here.
class Steering {
 public:
  /// Entries of the table: the low bits of the hash choose one.
  static constexpr uint32_t kEntries = 128;

  Steering(uint32_t core, uint32_t cores) : core_(core), cores_(cores) {}

  uint32_t cores() const { return cores_; }
  /// Whether frames may arrive that are for another core.
  bool shared() const { return cores_ > 1; }

  static uint16_t fold(const IpAddress& one, const IpAddress& other) {
    const uint64_t bits = one.high ^ one.low ^ other.high ^ other.low;
    return fold(static_cast<uint32_t>(bits >> 32 ^ bits));
  }
  static uint16_t fold(uint32_t bits) { return static_cast<uint16_t>(bits >> 16 ^ bits); }

  /// The core in an entry of the table.
  static uint32_t core_in(uint32_t entry, uint32_t cores) { return entry % cores; }
  uint32_t core_of(uint16_t fold) const { return core_in(entry_of(fold), cores_); }
  bool is_own(uint16_t fold) const { return core_of(fold) == core_; }

  /// The low bits of the Toeplitz hash.
  static uint32_t entry_of(uint16_t fold) {
    static constexpr EntriesOfBytes kEntriesOfBytes = entries_of_bytes();
    return kEntriesOfBytes[1][fold >> 8] ^ kEntriesOfBytes[0][fold & 0xff];
  }

 private:
  uint32_t core_;
  uint32_t cores_;
};

}  // namespace engine
