#include "net/checksum.h"

#include <bit>
#include <cstring>
#include <initializer_list>

// From GCC 14 on, of vectors that are returned where the processor has no AVX: to nobody outside.
#pragma GCC diagnostic ignored "-Wpsabi"

namespace engine {
namespace {

using Words = uint32_t __attribute__((vector_size(32)));
using Lanes = uint64_t __attribute__((vector_size(64)));

/// From this length on vectors pay off; measured.
constexpr size_t kVectorFrom = 256;

/// Adds all whole pairs of vectors at `bytes`, moving `bytes` and `length` past them. 32-bit words
/// go into 64-bit lanes, where nothing overflows and no lane waits for another's carry.
uint64_t add_vectors(const uint8_t*& bytes, size_t& length) {
  Lanes even{};
  Lanes odd{};
  for (; length >= 2 * sizeof(Words); bytes += 2 * sizeof(Words), length -= 2 * sizeof(Words)) {
    even += __builtin_convertvector(load_native<Words>(bytes), Lanes);
    odd += __builtin_convertvector(load_native<Words>(bytes + sizeof(Words)), Lanes);
  }
  const Lanes lanes = even + odd;
  uint64_t sum = 0;
  for (size_t i = 0; i < sizeof(Lanes) / sizeof(uint64_t); ++i) sum = add_carry(sum, lanes[i]);
  return sum;
}

}  // namespace

// The sum does not depend on byte order but for a swap of the result (RFC 1071 section 2(B)), and
// words may be added in any width (section 2(C)).
ChecksumSum checksum_bytes(const uint8_t* bytes, size_t length) {
  uint64_t native = 0;
  if (length >= kVectorFrom) native = add_vectors(bytes, length);
  for (; length >= 32; bytes += 32, length -= 32)
    for (size_t at = 0; at < 32; at += 8)
      native = add_carry(native, load_native<uint64_t>(bytes + at));
  for (; length >= 8; bytes += 8, length -= 8)
    native = add_carry(native, load_native<uint64_t>(bytes));
  if (length & 4) {
    native = add_carry(native, load_native<uint32_t>(bytes));
    bytes += 4;
  }
  if (length & 2) {
    native = add_carry(native, load_native<uint16_t>(bytes));
    bytes += 2;
  }
  if (length & 1)
    native = add_carry(native, std::endian::native == std::endian::little ? *bytes : *bytes << 8);
  return (native & UINT32_MAX) + (native >> 32);
}

ChecksumSum checksum_add(ChecksumSum sum, const uint8_t* bytes, size_t length) {
  return add_carry(sum, checksum_swap(checksum_fold(checksum_bytes(bytes, length))));
}

// An IPv4 address is kept as ::ffff:a.b.c.d, and ffff is a zero of ones-complement arithmetic: the
// sum over all 128 bits is the IPv4 pseudo-header's as well. Words may be 32 bits wide (RFC 1071).
ChecksumSum pseudo_header_sum(const IpAddress& source, const IpAddress& destination,
                              uint8_t protocol, uint32_t transport_length) {
  ChecksumSum sum = uint64_t{protocol} + transport_length + source.low32() + destination.low32();
  if (source.is_v4()) return sum;
  for (const uint64_t part : {source.high, destination.high})
    sum += (part >> 32) + (part & 0xffff'ffff);
  return sum + (source.low >> 32) + (destination.low >> 32);
}

}  // namespace engine
