// Whole connections under settings drawn at random.

#include "netsim/random_settings.h"

#include <gtest/gtest.h>

namespace engine::netsim {
namespace {

using enum Counter;

class RandomSettings : public testing::TestWithParam<uint64_t> {};

TEST_P(RandomSettings, EveryFlowIsWholeAndNothingIsLeftBehind) {
  Draw draw(GetParam());
  const Settings settings = draw.settings();
  const HttpLike http = draw.http();
  SCOPED_TRACE("client " + http.client_tcp + ", server " + http.server_tcp);

  Network network(settings, profile(http), forever());
  ASSERT_TRUE(network.drain(100 * kSecond));
  const CounterBlock client = network.counters(Side::client);
  const CounterBlock server = network.counters(Side::server);
  EXPECT_EQ(client[tcps_connects], kRandomFlows);
  EXPECT_EQ(client[tcps_closed], kRandomFlows);
  EXPECT_EQ(client[tcps_rcvbyte], kRandomFlows * http.response);
  EXPECT_EQ(server[tcps_rcvbyte], kRandomFlows * http.request);
  EXPECT_EQ(client[tcps_drops] + client[tcps_conndrops] + server[tcps_drops], 0u);
  for (Side side : {Side::client, Side::server})
    for (const PoolStatus& pool : network.core(side).memory())
      EXPECT_EQ(pool.in_use, 0u) << pool.name;
}

INSTANTIATE_TEST_SUITE_P(Seeds, RandomSettings, testing::Range<uint64_t>(1, 41));

}  // namespace
}  // namespace engine::netsim
