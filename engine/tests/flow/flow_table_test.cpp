#include "flow/flow_table.h"

#include <gtest/gtest.h>

#include <random>
#include <set>

namespace engine {
namespace {

FlowKey key(uint32_t client, uint16_t port, bool datagram = false) {
  return {IpAddress::v4(0x30000001), IpAddress::v4(0x10000000 + client), 80, port, datagram};
}

uint32_t add(Pool<Flow>& flows, FlowTable& table, const FlowKey& k) {
  const uint32_t number = flows.take();
  Flow& flow = flows[number];
  flow.remote = k.remote;
  flow.local = k.local;
  flow.remote_port = k.remote_port;
  flow.local_port = k.local_port;
  flow.state = k.datagram ? FlowState::datagram : FlowState::established;
  table.insert(flow, table.hash(k));
  return number;
}

TEST(FlowTable, FindsEveryFlowWhileItGrowsAndShrinks) {
  Pool<Flow> flows(200'000);
  TimeWaits waits(200'000);
  FlowTable table(flows, waits, 200'000, 3);
  std::set<std::pair<uint32_t, uint16_t>> open;
  std::mt19937 random(1);
  for (int i = 0; i < 150'000; ++i) {
    const uint32_t client = random() % 200;
    const auto port = static_cast<uint16_t>(random());
    const FlowKey k = key(client, port);
    const uint32_t hash = table.hash(k);
    const uint32_t found = table.find(k, hash);
    const bool known = open.count({client, port}) != 0;
    ASSERT_EQ(found != FlowTable::kNone, known);
    if (!known) {
      add(flows, table, k);
      open.insert({client, port});
    } else if (!FlowTable::is_flow(found)) {
      const uint32_t record = FlowTable::wait_of(found);
      ASSERT_EQ(waits[record].local_port, port);
      table.erase(found, waits[record], hash);
      waits.remove(waits[record]);
      open.erase({client, port});
    } else if (i % 3 != 0) {
      // Some end, and some go on as a record in the same place.
      ASSERT_EQ(flows[found].local_port, port);
      if (i % 3 == 1) {
        const uint32_t record = waits.add(0).number;
        static_cast<FlowIdentity&>(waits[record]) = flows[found];
        waits[record].flow_class = 0;
        table.replace(found, FlowTable::entry_of_wait(record), hash);
      } else {
        table.erase(found, flows[found], hash);
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

TEST(FlowTable, AHashThatIsNotTheEntrysCostsNoOtherEntry) {
  Pool<Flow> flows(64);
  TimeWaits waits(64);
  FlowTable table(flows, waits, 64, 3);
  std::vector<uint32_t> numbers;
  for (uint16_t port = 0; port < 32; ++port) numbers.push_back(add(flows, table, key(1, port)));
  const auto wrong = [&](uint16_t port) { return table.hash(key(1, port)) + 1; };
  table.erase(numbers[0], flows[numbers[0]], wrong(0));
  const uint32_t record = waits.add(0).number;
  static_cast<FlowIdentity&>(waits[record]) = flows[numbers[1]];
  table.replace(numbers[1], FlowTable::entry_of_wait(record), wrong(1));
  EXPECT_EQ(table.size(), 31u);
  EXPECT_EQ(table.find(key(1, 0), table.hash(key(1, 0))), FlowTable::kNone);
  EXPECT_EQ(table.find(key(1, 1), table.hash(key(1, 1))), FlowTable::entry_of_wait(record));
  for (uint16_t port = 2; port < 32; ++port)
    EXPECT_EQ(table.find(key(1, port), table.hash(key(1, port))), numbers[port]);
  table.erase(numbers[0], flows[numbers[0]], wrong(0));
  EXPECT_EQ(table.size(), 31u) << "it is not there any more";
}

TEST(FlowTable, TellsTcpFromUdpAndIpv6FromIpv4) {
  Pool<Flow> flows(16);
  TimeWaits waits(16);
  FlowTable table(flows, waits, 16, 3);
  const uint32_t tcp = add(flows, table, key(1, 1000));
  const uint32_t udp = add(flows, table, key(1, 1000, true));
  FlowKey v6 = key(1, 1000);
  v6.remote.high = 0xff02'0000'0000'0000;
  const uint32_t six = add(flows, table, v6);
  for (const auto& [k, number] :
       {std::pair{key(1, 1000), tcp}, {key(1, 1000, true), udp}, {v6, six}}) {
    EXPECT_EQ(table.find(k, table.hash(k)), number);
  }
}

// With fewer buckets chains would be longer, with more they would cost memory.
TEST(FlowTable, HasThreeBucketsForTwoFlowsWhileItGrows) {
  Pool<Flow> flows(100'000);
  TimeWaits waits(100'000);
  FlowTable table(flows, waits, 100'000, 3);
  for (uint32_t i = 0; i < 100'000; ++i) {
    add(flows, table, key(i / 500, static_cast<uint16_t>(i % 500)));
    if (i < 1024) continue;
    ASSERT_GE(table.touched_bytes(), i * sizeof(uint32_t) * 3 / 2);
    ASSERT_LE(table.touched_bytes(), (i + 2) * sizeof(uint32_t) * 3 / 2);
  }
}

}  // namespace
}  // namespace engine
