#pragma once
// The Internet checksum (RFC 1071) and its parts.

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>

#include "net/address.h"

namespace engine {

/// A running ones-complement sum over big-endian 16-bit words, not yet folded.
using ChecksumSum = uint64_t;

/// Ones-complement addition: a carry out of the top comes back in at the bottom.
inline uint64_t add_carry(uint64_t left, uint64_t right) {
  const uint64_t sum = left + right;
  return sum + (sum < left);
}

/// A word as it is in memory.
template <typename T>
T load_native(const uint8_t* from) {
  T value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

/// Adds `length` bytes to `sum`; an odd last byte counts as the high byte of a word.
ChecksumSum checksum_add(ChecksumSum sum, const uint8_t* bytes, size_t length);

/// The sum of `length` bytes as they are in memory: in this machine's byte order, which is the
/// other one's but for a swap of its bytes (RFC 1071 section 2(B)). Less than 2^33.
ChecksumSum checksum_bytes(const uint8_t* bytes, size_t length);

/// Folds to 16 bits, not complemented. Halves are added with the carry that comes out: of 64 bits,
/// and then to each other's mirror image, so that the upper half gets the lower one's carry.
inline uint16_t checksum_fold(ChecksumSum sum) {
  auto words = static_cast<uint32_t>(sum);
  words += static_cast<uint32_t>(sum >> 32);
  words += words < static_cast<uint32_t>(sum >> 32);
  return static_cast<uint16_t>((words + std::rotl(words, 16)) >> 16);
}

/// The same of three words, of which `small` is less than 2^31: in words of 32 bits.
inline uint16_t checksum_fold(uint32_t one, uint32_t other, uint32_t small) {
  uint32_t words = one + other;
  words += words < one;
  words += small;
  words += words < small;
  return static_cast<uint16_t>((words + std::rotl(words, 16)) >> 16);
}

/// The final field value (complement of the folded sum), host order, to store big-endian.
inline uint16_t checksum_finish(ChecksumSum sum) {
  return static_cast<uint16_t>(~checksum_fold(sum));
}

/// `checksum_bytes` of `words` words, but that it may be more than 2^32. For short headers, in one
/// piece with its caller. Each word is read by itself: a loop would be made into reads of vectors,
/// which wait until words that were just written are in the cache.
template <size_t words, typename Word = uint32_t>
[[gnu::always_inline]] inline ChecksumSum checksum_words(const uint8_t* bytes) {
  const auto word = [bytes](size_t i) {
    return ChecksumSum{load_native<Word>(bytes + i * sizeof(Word))};
  };
  return [&]<size_t... i>(std::index_sequence<i...>) {
    return (word(i) + ...);
  }
  (std::make_index_sequence<words>{});
}
/// Swaps the bytes of a folded sum between this machine's order and the network's.
inline uint16_t checksum_swap(uint16_t folded) {
  return std::endian::native == std::endian::little ? byteswap(folded) : folded;
}

/// The pseudo-header's sum: RFC 9293 section 3.1 for IPv4, RFC 8200 section 8.1 for IPv6.
ChecksumSum pseudo_header_sum(const IpAddress& source, const IpAddress& destination,
                              uint8_t protocol, uint32_t transport_length);

}  // namespace engine
