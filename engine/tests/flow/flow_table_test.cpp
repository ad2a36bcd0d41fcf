#include "flow/flow_table.h"

#include <gtest/gtest.h>

#include <random>
#include <set>

namespace engine {
namespace {

/// What tells a flow from others, as a test has it.
struct Ends {
  IpAddress remote;
  IpAddress local;
  uint16_t port;
  bool datagram = false;
};

Ends ends(uint32_t client, uint16_t port, bool datagram = false) {
  return {IpAddress::v4(0x30000001), IpAddress::v4(0x10000000 + client), port, datagram};
}

/// The flows of a table, and what they share.
struct Flows {
  explicit Flows(uint32_t most)
      : flows(most), waits(most), prefixes(most), table(flows, waits, prefixes, most, 3) {}

  FlowKey key(const Ends& e) const { return table.key(e.remote, e.local, 80, e.port, e.datagram); }
  uint32_t find(const Ends& e) const { return table.find(key(e), e.remote, e.local); }
  uint32_t add(const Ends& e) {
    const uint32_t number = flows.take();
    Flow& flow = flows[number];
    static_cast<FlowKey&>(flow) = key(e);
    if (flow.ipv6()) flow.prefixes = prefixes.take(e.remote, e.local);
    flow.state = e.datagram ? FlowState::datagram : FlowState::established;
    table.insert(number, flow);
    return number;
  }

  Pool<Flow> flows;
  TimeWaits waits;
  Ipv6Prefixes prefixes;
  FlowTable table;
};

TEST(FlowTable, FindsEveryFlowWhileItGrowsAndShrinks) {
  Flows all(200'000);
  auto& [flows, waits, prefixes, table] = all;
  std::set<std::pair<uint32_t, uint16_t>> open;
  std::mt19937 random(1);
  for (int i = 0; i < 150'000; ++i) {
    const uint32_t client = random() % 200;
    const auto port = static_cast<uint16_t>(random());
    const uint32_t found = all.find(ends(client, port));
    const bool known = open.count({client, port}) != 0;
    ASSERT_EQ(found != FlowTable::kNone, known);
    if (!known) {
      all.add(ends(client, port));
      open.insert({client, port});
    } else if (!FlowTable::is_flow(found)) {
      const uint32_t record = FlowTable::wait_of(found);
      ASSERT_EQ(waits[record].local_port(), port);
      table.erase(found, waits[record]);
      waits.remove(waits[record]);
      open.erase({client, port});
    } else if (i % 3 != 0) {
      // Some end, and some go on as a record in the same place.
      ASSERT_EQ(flows[found].local_port(), port);
      if (i % 3 == 1) {
        const uint32_t record = waits.add(flows[found], 0);
        table.replace(found, FlowTable::entry_of_wait(record), flows[found]);
      } else {
        table.erase(found, flows[found]);
        open.erase({client, port});
      }
      flows[found].state = FlowState::free;
      flows.give_back(found);
    }
  }
  EXPECT_EQ(table.size(), open.size());
  EXPECT_EQ(flows.in_use() + waits.in_use(), open.size());
  EXPECT_GT(waits.in_use(), 0u);
}

TEST(FlowTable, TellsTcpFromUdpAndIpv6FromIpv4) {
  Flows all(16);
  const Ends tcp = ends(1, 1000);
  Ends six = tcp;
  six.remote.high = 0xff02'0000'0000'0000;
  Ends seven = tcp;  // prefixes that have the same low bits
  seven.local.high = 0xff02'0000'0000'0000;
  for (const Ends& e : {tcp, ends(1, 1000, true), six, seven}) {
    EXPECT_EQ(all.find(e), FlowTable::kNone);
    const uint32_t number = all.add(e);
    EXPECT_EQ(all.find(e), number);
  }
  EXPECT_EQ(all.flows[all.find(tcp)].local_low32(), 0x10000001u);
  EXPECT_EQ(all.prefixes.in_use(), 2u);
}

/// A key has 30 bits of a hash, and over IPv6 the rest of the addresses is compared.
TEST(FlowTable, TellsPrefixesOfTheSameHash) {
  Flows all(16);
  const Ends here{{1, 2}, {3, 4}, 1000};
  const Ends elsewhere{{5, 2}, {3, 4}, 1000};
  const uint32_t number = all.add(here);
  EXPECT_EQ(all.table.find(all.key(here), elsewhere.remote, elsewhere.local), FlowTable::kNone);
  EXPECT_EQ(all.find(here), number);
}

// With fewer buckets chains would be longer, with more they would cost memory.
TEST(FlowTable, HasThreeBucketsForAFlowWhileItGrows) {
  Flows all(100'000);
  for (uint32_t i = 0; i < 100'000; ++i) {
    all.add(ends(i / 500, static_cast<uint16_t>(i % 500)));
    if (i < 342) continue;
    ASSERT_GE(all.table.touched_bytes(), i * sizeof(uint32_t) * 3);
    ASSERT_LE(all.table.touched_bytes(), (i + 1) * sizeof(uint32_t) * 3);
  }
}

}  // namespace
}  // namespace engine
