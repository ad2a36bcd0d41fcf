#pragma once
// The Internet checksum (RFC 1071) and its parts.

#include <cstddef>
#include <cstdint>

#include "net/address.h"

namespace engine {

/// A running ones-complement sum over big-endian 16-bit words, not yet folded.
using ChecksumSum = uint64_t;

/// Adds `length` bytes to `sum`; an odd last byte counts as the high byte of a word.
ChecksumSum checksum_add(ChecksumSum sum, const uint8_t* bytes, size_t length);

/// Folds to 16 bits, not complemented.
uint16_t checksum_fold(ChecksumSum sum);

/// The final field value (complement of the folded sum), host order, to store big-endian.
inline uint16_t checksum_finish(ChecksumSum sum) {
  return static_cast<uint16_t>(~checksum_fold(sum));
}

/// The pseudo-header's sum: RFC 9293 section 3.1 for IPv4, RFC 8200 section 8.1 for IPv6.
ChecksumSum pseudo_header_sum(const IpAddress& source, const IpAddress& destination,
                              uint8_t protocol, uint32_t transport_length);

}  // namespace engine
