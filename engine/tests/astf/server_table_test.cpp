#include "astf/server_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>

namespace engine {
namespace {

TEST(ServerTable, FindsByProtocolPortAndAddress) {
  ServerTable table;
  table.add(true, 80, 0, UINT32_MAX, 1);
  table.add(false, 80, 0, UINT32_MAX, 2);
  table.add(true, 81, 100, 199, 3);
  table.add(true, 81, 300, 300, 4);
  table.add(true, 81, 200, 299, 5);
  EXPECT_EQ(table.find(true, 80, 0), 1u);
  EXPECT_EQ(table.find(true, 80, UINT32_MAX), 1u);
  EXPECT_EQ(table.find(false, 80, 7), 2u);
  EXPECT_EQ(table.find(true, 81, 99), ServerTable::kNone);
  EXPECT_EQ(table.find(true, 81, 100), 3u);
  EXPECT_EQ(table.find(true, 81, 199), 3u);
  EXPECT_EQ(table.find(true, 81, 200), 5u);
  EXPECT_EQ(table.find(true, 81, 300), 4u);
  EXPECT_EQ(table.find(true, 81, 301), ServerTable::kNone);
  EXPECT_EQ(table.find(false, 81, 100), ServerTable::kNone);
  EXPECT_EQ(table.find(true, 82, 100), ServerTable::kNone);
}

TEST(ServerTable, RefusesOverlapAndNamesIt) {
  ServerTable table;
  table.add(true, 443, 0x30000000, 0x300000ff, 1);
  for (const auto& [first, last] : {std::pair{0x300000ffu, 0x30000100u},
                                    {0x2fffffffu, 0x30000000u},
                                    {0x30000010u, 0x30000020u},
                                    {0u, UINT32_MAX}})
    EXPECT_THROW(table.add(true, 443, first, last, 2), ProfileError);
  try {
    table.add(true, 443, 0, UINT32_MAX, 2);
  } catch (const ProfileError& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("TCP port 443 for any address is taken"));
    EXPECT_THAT(error.what(), testing::HasSubstr("48.0.0.0-48.0.0.255"));
  }
  // What was refused left nothing behind.
  EXPECT_EQ(table.find(true, 443, 0x30000100), ServerTable::kNone);
  EXPECT_EQ(table.find(true, 443, 0x30000020), 1u);
}

TEST(ServerTable, RemovesAllOfAHandle) {
  ServerTable table;
  for (uint16_t port = 1; port <= 1500; ++port) table.add(true, port, 0, UINT32_MAX, port % 2);
  table.remove(std::array{1u});
  for (uint16_t port = 1; port <= 1500; ++port)
    EXPECT_EQ(table.find(true, port, 5), port % 2 ? ServerTable::kNone : 0u);
  for (uint16_t port = 1; port <= 1500; port += 2) table.add(true, port, 0, UINT32_MAX, 9);
  EXPECT_EQ(table.find(true, 1499, 5), 9u);
}

Layer7Map first_byte(uint8_t value) {
  return {{1}, {0xff}, {value}};
}

TEST(ServerTable, ChoosesByPayloadBeforePort) {
  ServerTable table;
  const Layer7Map a = first_byte('a'), b = first_byte('b');
  table.add(true, 80, 100, 199, a, 1);
  table.add(true, 80, 100, 199, b, 2);
  const std::vector<uint8_t> says_a{'x', 'a'}, says_b{'x', 'b'}, says_c{'x', 'c'}, too_short{'x'};
  EXPECT_EQ(table.find_undecided(true, 80, 150), 1u);
  EXPECT_EQ(table.find_undecided(true, 80, 200), ServerTable::kNone);
  EXPECT_EQ(table.choose(true, 80, 150, says_a), 1u);
  EXPECT_EQ(table.choose(true, 80, 150, says_b), 2u);
  EXPECT_EQ(table.choose(true, 80, 150, says_c), ServerTable::kNone);
  EXPECT_EQ(table.choose(true, 80, 150, too_short), ServerTable::kNone);
  EXPECT_EQ(table.find(true, 80, 150), ServerTable::kNone);
  table.add(true, 80, 0, UINT32_MAX, 3);
  EXPECT_EQ(table.choose(true, 80, 150, says_c), 3u);
  EXPECT_EQ(table.choose(true, 80, 150, says_b), 2u);
  table.remove(std::array{2u});
  EXPECT_EQ(table.choose(true, 80, 150, says_b), 3u);
  table.remove(std::array{1u});
  EXPECT_EQ(table.find_undecided(true, 80, 150), ServerTable::kNone);
}

TEST(ServerTable, RefusesPayloadMapsThatDoNotTellTemplatesApart) {
  ServerTable table;
  const Layer7Map a = first_byte('a'), b = first_byte('b'), other_offset{{2}, {0xff}, {'a'}};
  table.add(true, 80, 100, 199, a, 1);
  EXPECT_THROW(table.add(true, 80, 100, 199, a, 2), ProfileError);
  EXPECT_THROW(table.add(true, 80, 100, 198, b, 2), ProfileError);
  EXPECT_THROW(table.add(true, 80, 100, 199, other_offset, 2), ProfileError);
  table.add(true, 80, 200, 299, other_offset, 2);
  table.add(false, 80, 100, 199, other_offset, 3);
  EXPECT_EQ(table.find_undecided(true, 80, 250), 2u);
}

}  // namespace
}  // namespace engine
