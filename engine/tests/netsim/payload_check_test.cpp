// Received payload, compared with what the other end's program sends.

#include <gtest/gtest.h>

#include <algorithm>

#include "netsim/netsim.h"
#include "netsim/several_templates.h"

namespace engine::netsim {
namespace {

using enum Counter;

constexpr uint64_t kFlows = 50;

RunOptions checked(uint64_t skip = 0) {
  RunOptions options;
  options.payload_check = {.enabled = true, .skip_bytes = skip};
  return options;
}

PayloadCounts found(Network& network, Side receiver) {
  PayloadCounts sum;
  for (const PayloadBlock& block : network.run(receiver).payload())
    sum += block.sides[index_of(receiver)];
  return sum;
}

TEST(PayloadCheck, ComparesEveryByteOfBothSidesOnce) {
  Network network({}, profile({.request = 3000, .limit = kFlows}), checked());
  ASSERT_TRUE(network.drain(20 * kSecond));
  const PayloadCounts client = found(network, Side::client);
  const PayloadCounts server = found(network, Side::server);
  EXPECT_EQ(client.compared_bytes, kFlows * 32000);
  EXPECT_EQ(server.compared_bytes, kFlows * 3000);
  EXPECT_EQ(client.mismatched_bytes + server.mismatched_bytes, 0u);
  EXPECT_EQ(client.unknown_bytes + server.unknown_bytes, 0u);
  EXPECT_EQ(client.mismatched_flows + server.mismatched_flows, 0u);
}

TEST(PayloadCheck, HoldsOverALossyWireAndAWrap) {
  Settings settings;
  settings.to_server = settings.to_client = {.loss = 0.03, .duplication = 0.03, .reordering = 0.05};
  settings.epoch = (Nanoseconds{1} << 44) - 100 * kMillisecond;  // sequence numbers wrap soon
  Network network(settings, profile({.request = 3000, .response = 300'000, .limit = 20}),
                  checked());
  ASSERT_TRUE(network.drain(200 * kSecond));
  const PayloadCounts client = found(network, Side::client);
  EXPECT_GE(client.compared_bytes, 20u * 300'000);
  EXPECT_EQ(client.mismatched_bytes, 0u);
  EXPECT_EQ(found(network, Side::server).mismatched_bytes, 0u);
}

TEST(PayloadCheck, FindsTheBytesThatWereChangedAndTheirFlows) {
  Settings settings;
  settings.offloads.checksum = true;  // a device that vouches for what it did not see
  Network network(settings, profile({.limit = kFlows}), checked());
  uint64_t changed = 0;
  network.filter = [&](Seen& seen) {
    // The last byte of the first segment of every other response.
    if (seen.from == Side::server && seen.packet.payload_length > 0 &&
        std::equal(seen.packet.payload().begin(), seen.packet.payload().begin() + 4, "HTTP") &&
        ++changed % 2 == 0)
      seen.bytes.back() ^= 1;
    return true;
  };
  ASSERT_TRUE(network.drain(20 * kSecond));
  const PayloadCounts client = found(network, Side::client);
  EXPECT_EQ(changed, kFlows);
  EXPECT_EQ(client.mismatched_bytes, kFlows / 2);
  EXPECT_EQ(client.mismatched_flows, kFlows / 2);
  EXPECT_EQ(found(network, Side::server).mismatched_bytes, 0u);
}

TEST(PayloadCheck, LeavesOutWhatIsToBeSkipped) {
  Settings settings;
  settings.offloads.checksum = true;
  Network network(settings, profile({.limit = kFlows}), checked(10));
  network.filter = [&](Seen& seen) {
    const auto payload = static_cast<size_t>(seen.packet.payload().data() - seen.bytes.data());
    if (seen.from == Side::server && seen.packet.payload_length > 0 &&
        std::equal(seen.packet.payload().begin(), seen.packet.payload().begin() + 4, "HTTP"))
      for (size_t i = 0; i < 12; ++i) seen.bytes[payload + i] ^= 1;
    return true;
  };
  ASSERT_TRUE(network.drain(20 * kSecond));
  const PayloadCounts client = found(network, Side::client);
  EXPECT_EQ(client.unknown_bytes, kFlows * 10);
  EXPECT_EQ(client.compared_bytes, kFlows * (32000 - 10));
  EXPECT_EQ(client.mismatched_bytes, kFlows * 2);
  EXPECT_EQ(client.mismatched_flows, kFlows);
}

TEST(PayloadCheck, ServersKnowTheTemplateThatThePayloadChose) {
  const nlohmann::json by_first_bytes = {{"port", 80}, {"l7_map", {{"offset", {0, 1}}}}};
  const auto client = [](uint32_t buffer) {
    return program(R"({"name":"tx","buf_index":)" + std::to_string(buffer) +
                   R"(},{"name":"rx","min_bytes":4})");
  };
  const auto server = program(R"({"name":"rx","min_bytes":4},{"name":"tx","buf_index":1})");
  RunOptions options = checked();
  options.duration = kSecond;
  Network network({},
                  several({client(0), client(1), server},
                          {flow_template(0, 2, 40, 1, by_first_bytes),
                           flow_template(1, 2, 20, 2, by_first_bytes)},
                          {"A", "B"}),
                  options);
  ASSERT_TRUE(network.drain(10 * kSecond));
  const std::vector<PayloadBlock> blocks = network.run(Side::server).payload();
  ASSERT_EQ(blocks.size(), 2u);
  for (const PayloadBlock& block : blocks) {
    EXPECT_GT(block.sides[index_of(Side::server)].compared_bytes, 0u);
    EXPECT_EQ(block.sides[index_of(Side::server)].mismatched_bytes, 0u);
  }
}

TEST(PayloadCheck, WithoutItNothingIsCompared) {
  Network network({}, profile({.limit = kFlows}), forever());
  ASSERT_TRUE(network.drain(20 * kSecond));
  EXPECT_TRUE(network.run(Side::client).payload().empty());
}

}  // namespace
}  // namespace engine::netsim
