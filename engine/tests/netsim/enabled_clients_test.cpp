// Clients that a user disables: they open no flows, the others do.

#include <gtest/gtest.h>

#include <set>

#include "astf/run.h"
#include "netsim/netsim.h"

namespace engine::netsim {
namespace {

constexpr uint32_t kFirst = 0x10000001;  // 16.0.0.1, as the simulation's profiles have it

AddressRanges range(uint32_t first, uint32_t last) {
  AddressRanges addresses;
  addresses.add(first, last);
  return addresses;
}

class EnabledClients : public testing::Test {
 protected:
  EnabledClients()
      : network({}, profile({.request = 100, .response = 1000, .cps = 500}), forever()) {
    network.filter = [this](const Seen& seen) {
      if (seen.from == Side::client && seen.kind == PacketKind::tcp && seen.segment.is(tcp::kSyn))
        opening.insert(seen.packet.source().low32());
      return true;
    };
  }

  DataCore& clients() { return network.core(Side::client); }
  uint32_t last() {
    const ClientAddresses all = clients().clients();
    EXPECT_EQ(all.known.ranges().size(), 1u);
    return all.known.ranges().begin()->second;
  }
  /// Clients that open flows during the next second.
  std::set<uint32_t> seen() {
    opening.clear();
    network.run_until(network.now() + kSecond);
    return opening;
  }

  Network network;
  std::set<uint32_t> opening;
};

TEST_F(EnabledClients, ThoseDisabledOpenNothingUntilEnabled) {
  const uint32_t end = last();
  ASSERT_GT(end - kFirst, 4u);
  const std::set<uint32_t> all = seen();
  EXPECT_EQ(all.size(), end - kFirst + 1);
  clients().enable_clients(range(kFirst, kFirst + 1), false);
  clients().enable_clients(range(end, end), false);
  std::set<uint32_t> rest = all;
  for (const uint32_t gone : {kFirst, kFirst + 1, end}) rest.erase(gone);
  EXPECT_EQ(seen(), rest);
  EXPECT_EQ(clients().clients().disabled.ranges().size(), 2u);
  clients().enable_clients(range(0, UINT32_MAX), true);
  EXPECT_EQ(seen(), all);
}

TEST_F(EnabledClients, WithNoneLeftStartsAreGivenUpByName) {
  EXPECT_FALSE(seen().empty());
  clients().enable_clients(range(kFirst, last()), false);
  const uint64_t before = network.status(Side::client).opened;
  EXPECT_TRUE(seen().empty());
  const RunStatus status = network.status(Side::client);
  EXPECT_EQ(status.opened, before);
  EXPECT_NEAR(static_cast<double>(status.unsent), 500, 2);
  EXPECT_EQ(clients().drops(Side::client)[Drop::no_client_enabled], status.unsent);
  EXPECT_EQ(clients().table_counters(Side::client)[Counter::err_c_tuple_err], 0u);
}

TEST_F(EnabledClients, AddressesThatNoRunHasAreForgotten) {
  clients().enable_clients(range(0x20000000, 0x20000009), false);
  EXPECT_TRUE(clients().clients().disabled.empty());
  clients().enable_clients(range(kFirst - 1, kFirst), false);
  EXPECT_EQ(clients().clients().disabled.ranges(), (std::map{std::pair{kFirst, kFirst}}));
  network.close(Side::client);
  const auto run = clients().detach(network.run(Side::client));
  EXPECT_TRUE(clients().clients().known.empty());
  EXPECT_TRUE(clients().clients().disabled.empty());
}

}  // namespace
}  // namespace engine::netsim
