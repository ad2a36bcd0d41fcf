#include "astf/topology.h"

#include <gtest/gtest.h>

namespace engine {
namespace {

ClientGroup group(uint32_t port, uint32_t first, uint32_t last) {
  return {.port = port, .first = first, .last = last};
}

TEST(Topology, FindsTheGroupOfAClientBehindItsPort) {
  const Topology topology({group(2, 10, 19), group(0, 30, 30), group(0, 10, 19)});
  EXPECT_EQ(topology.find(0, 10), 0u);
  EXPECT_EQ(topology.find(0, 19), 0u);
  EXPECT_EQ(topology.find(0, 30), 1u);
  EXPECT_EQ(topology.find(2, 15), 2u);
  EXPECT_EQ(topology.find(0, 9), std::nullopt);
  EXPECT_EQ(topology.find(0, 20), std::nullopt);
  EXPECT_EQ(topology.find(2, 30), std::nullopt);
}

TEST(Topology, NamesTheFirstClientWithoutAGroup) {
  const Topology topology({group(0, 10, 19), group(0, 20, 29), group(0, 31, UINT32_MAX)});
  EXPECT_EQ(topology.first_missing(0, 10, 29), std::nullopt);
  EXPECT_EQ(topology.first_missing(0, 10, 30), 30u);
  EXPECT_EQ(topology.first_missing(0, 9, 12), 9u);
  EXPECT_EQ(topology.first_missing(0, 31, UINT32_MAX), std::nullopt);
}

}  // namespace
}  // namespace engine
