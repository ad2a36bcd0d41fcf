// Records of TLS that are begun: what their memory means for other connections.

#include <gtest/gtest.h>

#include <set>

#include "base/byte_order.h"
#include "netsim/netsim.h"
#include "netsim/tls_pair.h"

namespace engine::netsim {
namespace {

using tls::TlsCore;
using tls::Version;

constexpr uint32_t kLongRequest = 15'000;
constexpr uint64_t kStuck = 5'000;

TlsCounts server_counts(Network& network) {
  return network.run(Side::server).report().tls.at(0).sides[index_of(Side::server)];
}

/// Loses the last segment of each client's request, which is the only short one behind a full one.
/// Ports that are let through are in `free`.
auto without_ends(std::set<uint16_t>& begun, const std::set<uint16_t>& free) {
  return [&begun, &free](Seen& seen) {
    if (seen.kind != PacketKind::tcp || seen.from != Side::client || seen.segment.length == 0)
      return true;
    const auto port = load_be<uint16_t>(seen.packet.header);
    if (seen.segment.length > 1400) {
      begun.insert(port);
      return true;
    }
    return !begun.contains(port) || free.contains(port);
  };
}

/// 73 MB of 5,000 records that want their last segment.
TEST(TlsMemory, AHandshakeIsNotRefusedForRecordsThatAreBegun) {
  const HttpLike http{.request = kLongRequest, .response = 10, .cps = 5'000, .limit = kStuck + 1};
  Network network(trusted(), profile(http), engine_options({.version = Version::tls13}));
  std::set<uint16_t> begun;
  std::set<uint16_t> free;
  network.filter = without_ends(begun, free);
  network.run_until(1'600 * kMillisecond);
  EXPECT_EQ(begun.size(), kStuck + 1);
  EXPECT_EQ(server_counts(network).full, kStuck + 1);
  EXPECT_EQ(server_counts(network).received_records, 0u);
  EXPECT_EQ(server_counts(network).lacked_memory, 0u);
  EXPECT_EQ(network.run(Side::server).tls_core()->begun, kStuck + 1);
  network.filter = nullptr;
  ASSERT_TRUE(network.drain(200 * kSecond));
  EXPECT_EQ(server_counts(network).received_bytes, (kStuck + 1) * kLongRequest);
  EXPECT_EQ(network.run(Side::server).tls_core()->begun, 0u);
  EXPECT_EQ(network.run(Side::server).tls_core()->held_bytes, 0u);
}

class TlsPlaces : public ::testing::TestWithParam<Version> {};

/// While no record can be begun, those that come whole are taken; the others once it can.
TEST_P(TlsPlaces, WholeRecordsNeedNone) {
  for (const uint32_t request : {100u, kLongRequest}) {
    SCOPED_TRACE(request);
    const HttpLike http{.request = request, .response = 10, .limit = 3};
    Network network(trusted(), profile(http), engine_options({.version = GetParam()}));
    uint64_t& taken = network.run(Side::server).tls_core()->begun;
    taken = TlsCore::kMostBegun;
    network.run_until(kSecond);
    const bool whole = request == 100;
    EXPECT_EQ(server_counts(network).full, 3u);
    EXPECT_EQ(server_counts(network).received_bytes, whole ? 3u * request : 0u);
    EXPECT_EQ(server_counts(network).lacked_memory == 0, whole);
    EXPECT_EQ(taken, TlsCore::kMostBegun);
    taken = 0;
    ASSERT_TRUE(network.drain(200 * kSecond));
    EXPECT_EQ(server_counts(network).received_bytes, 3u * request);
    EXPECT_EQ(taken, 0u);
    EXPECT_EQ(network.run(Side::server).tls_core()->held_bytes, 0u);
  }
}

/// A record that was begun is completed, however many others are.
TEST_P(TlsPlaces, WhoHasBegunMayGoOn) {
  const HttpLike http{.request = kLongRequest, .response = 10, .limit = 1};
  Network network(trusted(), profile(http), engine_options({.version = GetParam()}));
  std::set<uint16_t> begun;
  std::set<uint16_t> free;
  network.filter = without_ends(begun, free);
  network.run_until(kSecond);
  uint64_t& taken = network.run(Side::server).tls_core()->begun;
  EXPECT_EQ(taken, 1u);
  taken = TlsCore::kMostBegun;
  free = begun;
  ASSERT_TRUE(network.drain(200 * kSecond));
  EXPECT_EQ(server_counts(network).received_bytes, kLongRequest);
  EXPECT_EQ(server_counts(network).lacked_memory, 0u);
  EXPECT_EQ(taken, TlsCore::kMostBegun - 1);
}

INSTANTIATE_TEST_SUITE_P(Netsim, TlsPlaces, ::testing::Values(Version::tls13, Version::tls12));

}  // namespace
}  // namespace engine::netsim
