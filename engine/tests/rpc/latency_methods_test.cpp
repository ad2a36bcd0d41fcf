#include "rpc/control_client.h"

namespace engine {
namespace {

class LatencyMethodsTest : public ControlTest {};

TEST_F(LatencyMethodsTest, ErrorsHaveTheCountersThatClientsKnow) {
  stand_in().latency_report = {.received = 1,
                               .out_of_sequence = 2,
                               .wrong_length = 3,
                               .bad_ip_sum = 4,
                               .bad_icmp_sum = 5,
                               .impossible_time = 6};
  const Json stats = result("get_latency_stats")["data"]["port-1"]["stats"];
  EXPECT_EQ(stats["m_pkt_ok"], 1);
  EXPECT_EQ(stats["m_seq_error"], 2);
  EXPECT_EQ(stats["m_length_error"], 3);
  EXPECT_EQ(stats["m_l3_cs_err"], 4);
  EXPECT_EQ(stats["m_l4_cs_err"], 5);
  EXPECT_EQ(stats["m_no_magic"], 6);
}

}  // namespace
}  // namespace engine
