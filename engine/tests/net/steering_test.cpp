#include "net/steering.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace engine {
namespace {

struct Tuple {
  IpAddress source, destination;
  uint16_t source_port, destination_port;
};

/// What a NIC hashes of a TCP or UDP packet: addresses and ports, in network byte order.
std::vector<uint8_t> input_of(const Tuple& tuple) {
  std::vector<uint8_t> bytes;
  const auto append = [&bytes](uint64_t value, size_t size) {
    while (size-- > 0) bytes.push_back(static_cast<uint8_t>(value >> 8 * size));
  };
  for (const IpAddress& address : {tuple.source, tuple.destination}) {
    if (!address.is_v4()) append(address.high, 8);
    append(address.low, address.is_v4() ? 4 : 8);
  }
  append(tuple.source_port, 2);
  append(tuple.destination_port, 2);
  return bytes;
}

/// The Toeplitz hash as NICs are specified to compute it, bit by bit.
uint32_t toeplitz(const std::vector<uint8_t>& input, const std::vector<uint8_t>& key) {
  uint32_t hash = 0;
  for (size_t bit = 0; bit < 8 * input.size(); ++bit) {
    if ((input[bit / 8] >> (7 - bit % 8) & 1) == 0) continue;
    for (size_t i = 0; i < 32; ++i)
      hash ^= uint32_t{key.at((bit + i) / 8)} >> (7 - (bit + i) % 8) % 8 << 31 >> i;
  }
  return hash;
}

std::vector<uint8_t> symmetric_key() {
  std::vector<uint8_t> key;
  while (key.size() < 40) {
    key.push_back(kSymmetricKey >> 8);
    key.push_back(kSymmetricKey & 0xff);
  }
  return key;
}

uint16_t fold_of(const Tuple& tuple) {
  return Steering::fold(tuple.source, tuple.destination) ^ tuple.source_port ^
         tuple.destination_port;
}

std::vector<Tuple> some_tuples() {
  std::mt19937_64 random(1);
  std::vector<Tuple> tuples;
  for (int i = 0; i < 4000; ++i) {
    const auto address = [&] {
      return i % 2 == 0 ? IpAddress::v4(static_cast<uint32_t>(random()))
                        : IpAddress{random() | 1, random()};
    };
    tuples.push_back(
        {address(), address(), static_cast<uint16_t>(random()), static_cast<uint16_t>(random())});
  }
  return tuples;
}

// Microsoft's verification suite for RSS: TCP over IPv4, under its key.
TEST(Toeplitz, OfTheTestIsTheOneOfNics) {
  const std::vector<uint8_t> key{0x6d, 0x5a, 0x56, 0xda, 0x25, 0x5b, 0x0e, 0xc2, 0x41, 0x67,
                                 0x25, 0x3d, 0x43, 0xa3, 0x8f, 0xb0, 0xd0, 0xca, 0x2b, 0xcb,
                                 0xae, 0x7b, 0x30, 0xb4, 0x77, 0xcb, 0x2d, 0xa3, 0x80, 0x30,
                                 0xf2, 0x0c, 0x6a, 0x42, 0xb7, 0x3b, 0xbe, 0xac, 0x01, 0xfa};
  const Tuple tuple{IpAddress::v4(0x420995bb), IpAddress::v4(0xa18e6450), 2794, 1766};
  EXPECT_EQ(toeplitz(input_of(tuple), key), 0x51ccc178u);
}

TEST(Steering, EntriesAreThoseOfANic) {
  for (const Tuple& tuple : some_tuples())
    ASSERT_EQ(Steering::entry_of(fold_of(tuple)),
              toeplitz(input_of(tuple), symmetric_key()) % Steering::kEntries);
}

TEST(Steering, BothDirectionsOfAFlowAreOfOneCore) {
  const Steering steering(0, 7);
  for (const Tuple& tuple : some_tuples()) {
    const Tuple answer{tuple.destination, tuple.source, tuple.destination_port, tuple.source_port};
    ASSERT_EQ(steering.core_of(fold_of(tuple)), steering.core_of(fold_of(answer)));
  }
}

TEST(Steering, PortsOfOneClientAreSharedOutEvenly) {
  for (const uint32_t cores : {2u, 3u, 8u, 16u}) {
    const Steering steering(0, cores);
    std::vector<double> shares(cores);
    for (uint32_t port = 1024; port < 64000; ++port)
      shares[steering.core_of(Steering::fold(uint32_t{0x10000001}) ^
                              static_cast<uint16_t>(port))] += cores / (64000.0 - 1024);
    for (const double share : shares) EXPECT_NEAR(share, 1, 0.06) << cores;
  }
}

}  // namespace
}  // namespace engine
