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
  for (const PayloadBlock& block : network.run(receiver).report().payload)
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

/// Whatever is wrong with a segment that TCP does not take is no fault of the payload.
TEST(PayloadCheck, LeavesOutWhatTcpDoesNotTake) {
  constexpr size_t kTcp = 14 + 20;
  struct Change {
    const char* name;
    std::function<void(std::vector<uint8_t>&)> apply;
  };
  const auto add = [](std::vector<uint8_t>& bytes, size_t at, uint32_t amount) {
    store_be<uint32_t>(&bytes[at], load_be<uint32_t>(&bytes[at]) + amount);
  };
  const Change changes[] = {
      {"an old time stamp", [&](auto& bytes) { add(bytes, kTcp + 24, 0u - 100'000); }},
      {"an ACK of what was never sent", [&](auto& bytes) { add(bytes, kTcp + 8, 5'000); }},
      {"an ACK of long ago", [&](auto& bytes) { add(bytes, kTcp + 8, 0u - 0x4000'0000); }},
      {"no ACK", [](auto& bytes) { bytes[kTcp + 13] &= static_cast<uint8_t>(~tcp::kAck); }},
      {"a SYN", [](auto& bytes) { bytes[kTcp + 13] |= tcp::kSyn; }},
      {"a number beyond the window", [&](auto& bytes) { add(bytes, kTcp + 4, 10'000'000); }},
  };
  for (const Change& change : changes) {
    Settings settings;
    settings.offloads.checksum = true;
    Network network(settings, profile({.limit = kFlows}), checked());
    uint64_t injected = 0;
    network.filter = [&](Seen& seen) {
      if (seen.from != Side::server || seen.packet.payload_length == 0) return true;
      std::vector<uint8_t> forged = seen.bytes;
      if (forged.back() == 0xee) return true;  // it is one of these
      change.apply(forged);
      std::fill(forged.end() - static_cast<int>(seen.packet.payload_length), forged.end(), 0xee);
      ++injected;
      network.inject(Side::server, std::move(forged));
      return true;
    };
    ASSERT_TRUE(network.drain(20 * kSecond)) << change.name;
    const PayloadCounts client = found(network, Side::client);
    EXPECT_GT(injected, kFlows) << change.name;
    EXPECT_EQ(client.compared_bytes, kFlows * 32000) << change.name;
    EXPECT_EQ(client.mismatched_bytes, 0u) << change.name;
  }
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
  const std::vector<PayloadBlock> blocks = network.run(Side::server).report().payload;
  ASSERT_EQ(blocks.size(), 2u);
  for (const PayloadBlock& block : blocks) {
    EXPECT_GT(block.sides[index_of(Side::server)].compared_bytes, 0u);
    EXPECT_EQ(block.sides[index_of(Side::server)].mismatched_bytes, 0u);
  }
}

TEST(PayloadCheck, WithoutItNothingIsCompared) {
  Network network({}, profile({.limit = kFlows}), forever());
  ASSERT_TRUE(network.drain(20 * kSecond));
  EXPECT_TRUE(network.run(Side::client).report().payload.empty());
}

}  // namespace
}  // namespace engine::netsim
