#include "io/engine.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <thread>

#include "io/engine_tools.h"

namespace engine {
namespace {

TEST(Engine, RunsAProfileOverTheWire) {
  Engine engine(wires(1, 1));
  ASSERT_EQ(engine.ports().size(), 2u);
  EXPECT_EQ(engine.ports()[0].driver, "wire");
  EXPECT_TRUE(engine.port_state(0).resolved);
  EXPECT_EQ(engine.port_state(0).destination, engine.port_state(1).address.mac);

  engine.start("a", small_http(400), {}, ~0u);
  EXPECT_EQ(engine.population().clients, 200u);
  const RunStatus status = finish(engine, "a");
  EXPECT_EQ(status.opened, 400u);
  expect_all_flows_whole(engine, "a", 400);
  const PortCounters client = engine.port_counters(0);
  const PortCounters server = engine.port_counters(1);
  EXPECT_EQ(client.opackets, server.ipackets);
  EXPECT_EQ(client.ibytes, server.obytes);
  EXPECT_EQ(client.oerrors + server.oerrors, 0u);
  EXPECT_GT(client.ibytes, 400u * 32000);
  engine.remove("a");
  EXPECT_EQ(engine.counters("a", Side::client).size(), 0u);
}

TEST(Engine, SharesOutAmongCoresAndPairs) {
  Engine engine(wires(2, 2));
  EXPECT_EQ(engine.core_count(), 4u);
  EXPECT_EQ(engine.cores_per_pair(), 2u);
  EXPECT_THAT(engine.ports()[0].cores, testing::ElementsAre(0, 2));
  EXPECT_THAT(engine.ports()[3].cores, testing::ElementsAre(1, 3));
  engine.start("a", small_http(400), {}, ~0u);
  finish(engine, "a");
  expect_all_flows_whole(engine, "a", 400);
  for (uint32_t port = 0; port < 4; ++port) EXPECT_GT(engine.port_counters(port).opackets, 100u);
}

TEST(Engine, OpensOnlyWhereTheMaskSays) {
  Engine engine(wires(2, 1));
  engine.start("a", small_http(200), {}, 1u << 2);
  for (const double end = engine.now() + 20;
       engine.port_counters(2).opackets == 0 && engine.now() < end;)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  EXPECT_GT(engine.port_counters(2).opackets, 0u);
  EXPECT_EQ(engine.port_counters(0).opackets, 0u);
}

TEST(Engine, ADummyPortOpensNothing) {
  EngineConfig config;
  config.ports = {{"dummy", {}}, {"dummy", {}}};
  Engine engine(config);
  EXPECT_TRUE(engine.ports()[0].is_dummy);
  engine.start("a", small_http(200), {}, ~0u);
  std::this_thread::sleep_for(std::chrono::milliseconds(150));
  EXPECT_EQ(engine.status("a").opened, 0u);
  EXPECT_EQ(engine.port_counters(0).opackets, 0u);
}

TEST(Engine, ARefusedStartLeavesNothingBehind) {
  Engine engine(wires(1, 2));
  engine.start("a", small_http(1), {}, 0);
  EXPECT_THROW(engine.start("b", small_http(1), {}, 0), ProfileError);  // the same port
  engine.start("c", small_http(1, 81), {}, 0);
  engine.remove("a");
  engine.start("b", small_http(1), {}, 0);
}

TEST(Engine, ARunMayBeRemovedInFullFlight) {
  Engine engine(wires(1, 1));
  RunOptions fast;
  fast.multiplier = 20;
  for (int round = 0; round < 5; ++round) {
    engine.start("a", small_http(1'000'000), fast, ~0u);
    std::this_thread::sleep_for(std::chrono::milliseconds(130 + round));
    engine.remove("a");
  }
  EXPECT_EQ(engine.status("a").client_flows, 0u);
}

TEST(Engine, PortsOnAWireResolveEachOther) {
  EngineConfig config = wires(1, 1);
  config.ports[0].address.ipv4 = config.ports[1].address.gateway = 0x01010101;
  config.ports[1].address.ipv4 = config.ports[0].address.gateway = 0x02020202;
  Engine engine(config);
  engine.start("a", small_http(10), {}, ~0u);  // waits for ARP
  finish(engine, "a");
  expect_all_flows_whole(engine, "a", 10);
  EXPECT_EQ(engine.port_state(0).destination, engine.port_state(1).address.mac);

  PortAddress nobody = engine.port_state(0).address;
  nobody.gateway = 0x03030303;
  engine.configure_port(0, nobody);
  EXPECT_FALSE(engine.port_state(0).resolved);
  try {
    engine.start("b", small_http(10, 81), {}, ~0u);
    FAIL();
  } catch (const ProfileError& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("does not answer ARP"));
  }
}

TEST(Engine, CountsCyclesOfWorkAndOfPolling) {
  Engine engine(wires(1, 1));
  const CoreCycles before = engine.cycles().at(0);
  engine.start("a", small_http(200), {}, ~0u);
  finish(engine, "a");
  const CoreCycles after = engine.cycles().at(0);
  EXPECT_GT(after.busy, before.busy);
  EXPECT_GT(after.total - before.total, after.busy - before.busy);
  EXPECT_GT(engine.tsc_hz(), 100'000'000u);
}

TEST(Engine, SaysWhatIsWrongWithItsConfiguration) {
  const auto refusal = [](const EngineConfig& config) -> std::string {
    try {
      Engine engine(config);
    } catch (const ConfigError& error) {
      return error.what();
    }
    return "accepted";
  };
  EngineConfig config = wires(1, 2);
  config.data_cpus = {0};
  EXPECT_THAT(refusal(config), testing::HasSubstr("2 data cores need 2"));
  config = wires(1, 1);
  config.data_cpus = {1000};
  EXPECT_THAT(refusal(config), testing::HasSubstr("CPU 1000"));
  config = wires(1, 1);
  config.ports[0].device = "sc-nothing";
  EXPECT_THAT(refusal(config), testing::HasSubstr("sc-nothing"));
}

}  // namespace
}  // namespace engine
