#include "astf/address_pool.h"

#include <gtest/gtest.h>

#include <deque>
#include <random>
#include <set>
#include <utility>

namespace engine {
namespace {

constexpr uint32_t kPorts = ClientPool::kPortLimit - ClientPool::kFirstPort;
const Steering kAlone{0, 1};

uint32_t address(uint32_t a, uint32_t b, uint32_t c, uint32_t d) {
  return a << 24 | b << 16 | c << 8 | d;
}

/// A port of the client whose turn it is.
bool take(ClientPool& pool, uint32_t& client, uint16_t& port) {
  client = pool.next_address();
  return pool.take_port(client, port);
}

AddressRange clients(uint32_t first, uint32_t last) {
  return {first, last, address(1, 0, 0, 0), true, false};
}

TEST(SliceOf, TwoPairsShareTheRangeEachWithItsOffset) {
  const AddressRange range = clients(address(16, 0, 0, 0), address(16, 0, 0, 255));
  const AddressSlice first = slice_of(range, 0, 2, 2);
  EXPECT_EQ(first.first, address(16, 0, 0, 0));
  EXPECT_EQ(first.count, 128u);
  const AddressSlice second = slice_of(range, 1, 2, 2);
  EXPECT_EQ(second.first, address(17, 0, 0, 128));
  EXPECT_EQ(second.count, 128u);
}

TEST(SliceOf, LastThreadsTakeTheRest) {
  const AddressRange range = clients(100, 109);
  const std::pair<uint32_t, uint32_t> expected[] = {{100, 2}, {102, 2}, {104, 3}, {107, 3}};
  for (uint32_t thread = 0; thread < 4; ++thread) {
    const AddressSlice slice = slice_of(range, thread, 4, 1);
    EXPECT_EQ(slice.first, expected[thread].first);
    EXPECT_EQ(slice.count, expected[thread].second);
  }
}

TEST(SliceOf, PartsCoverTheRangeWithoutOverlap) {
  for (uint32_t threads = 1; threads <= 16; ++threads)
    for (uint32_t total = threads; total < 60; ++total) {
      uint32_t next = 1000;
      for (uint32_t thread = 0; thread < threads; ++thread) {
        const AddressSlice slice = slice_of(clients(1000, 999 + total), thread, threads, 1);
        EXPECT_EQ(slice.first, next);
        next += slice.count;
      }
      EXPECT_EQ(next, 1000 + total);
    }
}

TEST(SliceOf, PerCoreGivesEveryPairTheWholeRange) {
  AddressRange range = clients(address(16, 0, 0, 0), address(16, 0, 0, 255));
  range.per_core = true;
  // Four threads, two pairs: threads 1 and 3 are the two cores of pair 1.
  EXPECT_EQ(slice_of(range, 1, 4, 2).first, address(17, 0, 0, 0));
  EXPECT_EQ(slice_of(range, 3, 4, 2).first, address(17, 0, 0, 128));
  EXPECT_EQ(slice_of(range, 3, 4, 2).count, 128u);
  range.pair_offset = 255;
  EXPECT_THROW(slice_of(range, 0, 4, 2), ProfileError);
  EXPECT_NO_THROW(slice_of(range, 0, 4, 1));
}

TEST(SliceOf, TooFewClientsAreNamed) {
  try {
    slice_of(clients(address(16, 0, 0, 1), address(16, 0, 0, 1)), 0, 2, 2);
    FAIL();
  } catch (const ProfileError& error) {
    EXPECT_NE(std::string(error.what()).find("(16.0.0.1-16.0.0.1) has only 1 address."),
              std::string::npos);
  }
}

TEST(SliceOf, FewServersAreShared) {
  AddressRange range{500, 501, 0, false, false};
  for (uint32_t thread = 0; thread < 5; ++thread) {
    const AddressSlice slice = slice_of(range, thread, 5, 1);
    EXPECT_EQ(slice.first, 500 + thread % 2);
    EXPECT_EQ(slice.count, 1u);
  }
}

TEST(ServerPool, TakesAddressesInTurn) {
  ServerPool pool({10, 3});
  for (const uint32_t expected : {10u, 11u, 12u, 10u, 11u}) EXPECT_EQ(pool.take(), expected);
}

TEST(ClientPool, GoesRoundWithPortsOneAfterAnother) {
  ClientPool pool({100, 3}, 0, kAlone);
  uint32_t client = 0;
  uint16_t first[3];
  uint16_t port = 0;
  for (uint32_t i = 0; i < 3; ++i) {
    ASSERT_TRUE(take(pool, client, first[i]));
    EXPECT_EQ(client, 100 + i);
  }
  // TRex: 1024 + ((214013 * (index + 11213 * thread) + 2531011) & 0xffff) mod 62976 + 1.
  EXPECT_EQ(first[0], 1024 + (2531011 & 0xffff) % kPorts + 1);
  EXPECT_EQ(first[1], 1024 + ((2531011 + 214013) & 0xffff) % kPorts + 1);
  for (uint32_t i = 0; i < 3; ++i) {
    ASSERT_TRUE(take(pool, client, port));
    EXPECT_EQ(client, 100 + i);
    EXPECT_EQ(port, first[i] + 1);
  }
}

TEST(ClientPool, ThreadsBeginElsewhere) {
  uint32_t client = 0;
  uint16_t port = 0;
  ClientPool pool({100, 1}, 1, kAlone);
  ASSERT_TRUE(take(pool, client, port));
  EXPECT_EQ(port, 1024 + ((214013u * 11213u + 2531011u) & 0xffff) % kPorts + 1);
}

TEST(ClientPool, GivesEveryPortOnceAndThenNone) {
  ClientPool pool({100, 1}, 0, kAlone);
  uint32_t client = 0;
  uint16_t port = 0;
  std::set<uint16_t> seen;
  while (take(pool, client, port)) EXPECT_TRUE(seen.insert(port).second) << port;
  EXPECT_EQ(seen.size(), kPorts - 1);
  EXPECT_EQ(*seen.begin(), 1024);
  EXPECT_EQ(*seen.rbegin(), 63999);
  EXPECT_FALSE(seen.contains(4791));
  EXPECT_EQ(pool.ports_in_use(), kPorts - 1);
}

TEST(ClientPool, LooksAt21PortsAtATime) {
  ClientPool pool({100, 1}, 0, kAlone);
  uint32_t client = 0;
  uint16_t port = 0;
  while (take(pool, client, port)) {
  }
  // An attempt that fails moves on, so a freed port is found in the end.
  pool.give_back(100, 30000);
  int attempts = 1;
  while (!take(pool, client, port)) ++attempts;
  EXPECT_EQ(port, 30000);
  EXPECT_LE(attempts, static_cast<int>(kPorts / 21 + 1));
  pool.give_back(100, 30021);
  EXPECT_TRUE(take(pool, client, port));
  EXPECT_EQ(port, 30021);
  pool.give_back(100, 30043);
  EXPECT_FALSE(take(pool, client, port));
  EXPECT_TRUE(take(pool, client, port));
  EXPECT_EQ(port, 30043);
}

TEST(ClientPool, TakesPortsOfAGivenClient) {
  ClientPool pool({100, 2}, 0, kAlone);
  uint32_t client = 0;
  uint16_t port = 0;
  uint16_t same = 0;
  ASSERT_TRUE(take(pool, client, port));
  ASSERT_TRUE(pool.take_port(client, same));
  EXPECT_EQ(same, port + 1);
  ASSERT_TRUE(take(pool, client, same));
  EXPECT_EQ(client, 101u);
}

/// Flows of very different lifetimes: no pair is ever out twice, whatever the tables do meanwhile.
TEST(ClientPool, NeverGivesAPairThatIsOut) {
  std::mt19937 random(3);
  ClientPool pool({100, 5}, 0, kAlone);
  std::set<std::pair<uint32_t, uint16_t>> out;
  std::deque<std::pair<uint32_t, uint16_t>> queue;
  for (int round = 0; round < 100'000; ++round) {
    uint32_t client = 0;
    uint16_t port = 0;
    if (take(pool, client, port)) {
      ASSERT_TRUE(out.insert({client, port}).second);
      // One in a hundred lives long.
      random() % 100 == 0 ? queue.push_back({client, port}) : queue.push_front({client, port});
    }
    const bool drain = queue.size() > 3000 || random() % 3 == 0;
    for (size_t i = 0; drain && i < 2 && !queue.empty(); ++i) {
      const auto& pair = i == 0 || queue.size() < 2000 ? queue.front() : queue.back();
      pool.give_back(pair.first, pair.second);
      out.erase(pair);
      i == 0 || queue.size() < 2000 ? queue.pop_front() : queue.pop_back();
    }
    ASSERT_EQ(pool.ports_in_use(), out.size());
  }
}

TEST(ClientPool, LaterPoolsGoOnWhereTheOneBeforeStopped) {
  std::set<std::pair<uint32_t, uint16_t>> used;
  uint32_t offset = 0;
  for (int run = 0; run < 3; ++run) {
    ClientPool pool({100, 7}, 0, kAlone, offset);
    for (int i = 0; i < 7 * 20000; ++i) {
      uint32_t client = 0;
      uint16_t port = 0;
      ASSERT_TRUE(take(pool, client, port));
      ASSERT_TRUE(used.insert({client, port}).second) << run << " " << i;
      pool.give_back(client, port);
    }
    offset = pool.next_offset();
  }
}

TEST(ClientPool, MemoryFollowsUse) {
  ClientPool pool({0x10000000, 65536}, 0, kAlone);
  EXPECT_LT(pool.memory(), 1000u);
  uint32_t client = 0;
  uint16_t port = 0;
  std::vector<std::pair<uint32_t, uint16_t>> out;
  for (int i = 0; i < 65536 * 20; ++i) {
    ASSERT_TRUE(take(pool, client, port));
    out.push_back({client, port});
  }
  // Twenty open flows of each client lie in one or two words.
  EXPECT_LT(pool.memory(), 65536u * 32);
  for (const auto& [a, p] : out) pool.give_back(a, p);
  EXPECT_EQ(pool.ports_in_use(), 0u);
}

}  // namespace
}  // namespace engine
