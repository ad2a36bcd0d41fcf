#include "io/engine.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <thread>

#include "io/engine_tools.h"
#include "io/memif/port.h"
#include "io/port.h"
#include "io/syn.h"
#include "net/ethernet.h"

namespace engine {
namespace {

/// What the gateway says of itself, for all to hear (RFC 5227 section 1.2, RFC 826).
std::vector<uint8_t> gratuitous_arp(uint32_t address, const MacAddress& mac) {
  std::vector<uint8_t> frame(14 + 28);
  write_ethernet(frame.data(), {{0xff, 0xff, 0xff, 0xff, 0xff, 0xff}, mac, {}}, kEtherTypeArp);
  uint8_t* const arp = frame.data() + 14;
  store_be<uint64_t>(arp, 0x0001'0800'0604'0001);
  std::copy(mac.begin(), mac.end(), arp + 8);
  store_be(arp + 14, address);
  store_be(arp + 24, address);
  return frame;
}

/// By data core: frames that reached `port` and were for somebody else.
std::vector<uint64_t> not_ours(const Subjects& engine, uint32_t port) {
  std::vector<uint64_t> counts;
  for (const PortDrops& one : engine.ports.drops())
    if (one.port == port) counts.push_back(one.drops[Drop::not_ours]);
  return counts;
}

TEST(Engine, RunsAProfileOverTheWire) {
  Engine machine(wires(1, 1));
  const Subjects engine = machine.subjects();
  ASSERT_EQ(engine.ports.infos().size(), 2u);
  EXPECT_EQ(engine.ports.infos()[0].driver, "wire");
  EXPECT_TRUE(engine.ports.state(0).resolved);
  EXPECT_EQ(engine.ports.state(0).destination, engine.ports.state(1).address.mac);

  const auto a = engine.runs.start(small_http(400), {}, ~0u);
  EXPECT_EQ(engine.runs.population().clients, 200u);
  const RunStatus status = finish(*a);
  EXPECT_EQ(status.opened, 400u);
  expect_all_flows_whole(engine, *a, 400);
  const PortCounters client = engine.ports.counters(0);
  const PortCounters server = engine.ports.counters(1);
  EXPECT_EQ(client.opackets, server.ipackets);
  EXPECT_EQ(client.ibytes, server.obytes);
  EXPECT_EQ(client.oerrors + server.oerrors, 0u);
  EXPECT_GT(client.ibytes, 400u * 32000);
  a->remove();
  EXPECT_EQ(engine.runs.population().clients, 0u);
}

TEST(Engine, NoFrameIsLongerThanTheMssAllowsWithoutSegmentationOffload) {
  constexpr uint64_t kSegmentsOfAResponse = 32000 / 1448 + 1;
  for (const bool offload : {true, false}) {
    EngineConfig config = wires(1, 1);
    config.cut_by_device = offload;
    Engine machine(config);
    const Subjects engine = machine.subjects();
    const auto run = engine.runs.start(small_http(50), {}, ~0u);
    finish(*run);
    expect_all_flows_whole(engine, *run, 50);
    const uint64_t frames = engine.ports.counters(1).opackets;
    EXPECT_EQ(frames >= 50 * kSegmentsOfAResponse, !offload) << frames;
  }
}

TEST(Engine, SharesOutAmongCoresAndPairs) {
  Engine machine(wires(2, 2));
  const Subjects engine = machine.subjects();
  EXPECT_EQ(engine.cores.count(), 4u);
  EXPECT_EQ(engine.cores.count_per_pair(), 2u);
  EXPECT_THAT(engine.ports.infos()[0].cores, testing::ElementsAre(0, 2));
  EXPECT_THAT(engine.ports.infos()[3].cores, testing::ElementsAre(1, 3));
  const auto a = engine.runs.start(small_http(400), {}, ~0u);
  finish(*a);
  expect_all_flows_whole(engine, *a, 400);
  for (uint32_t port = 0; port < 4; ++port) EXPECT_GT(engine.ports.counters(port).opackets, 100u);
}

TEST(Engine, OpensOnlyWhereTheMaskSays) {
  Engine machine(wires(2, 1));
  const Subjects engine = machine.subjects();
  const auto a = engine.runs.start(small_http(200), {}, 1u << 2);
  for (const double end = engine.clock.now() + 20;
       engine.ports.counters(2).opackets == 0 && engine.clock.now() < end;)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  EXPECT_GT(engine.ports.counters(2).opackets, 0u);
  EXPECT_EQ(engine.ports.counters(0).opackets, 0u);
}

TEST(Engine, CountersOfBothSidesAreOneReadingUnderTraffic) {
  Engine machine(wires(1, 2));
  const Subjects engine = machine.subjects();
  RunOptions fast;
  fast.multiplier = 10;
  const auto a = engine.runs.start(small_http(1'000'000), fast, ~0u);
  uint64_t last = 0;
  for (int reading = 0; reading < 2000 || last == 0; ++reading) {
    const RunCounters counters = counters_of(engine, *a);
    const CounterBlock client = counters.sum(Side::client);
    const CounterBlock server = counters.sum(Side::server);
    last = client[Counter::tcps_connattempt];
    ASSERT_GE(last, server[Counter::tcps_accepts]);
    ASSERT_GE(server[Counter::tcps_sndbyte], client[Counter::tcps_rcvbyte]);
    ASSERT_GE(client[Counter::tcps_sndbyte], server[Counter::tcps_rcvbyte]);
  }
  a->remove();
}

TEST(Engine, ADummyPortOpensNothing) {
  EngineConfig config;
  config.ports = {{"dummy", {}}, {"dummy", {}}};
  Engine machine(config);
  const Subjects engine = machine.subjects();
  EXPECT_TRUE(engine.ports.infos()[0].is_dummy);
  const auto a = engine.runs.start(small_http(200), {}, ~0u);
  std::this_thread::sleep_for(std::chrono::milliseconds(150));
  EXPECT_EQ(a->status().opened, 0u);
  EXPECT_EQ(engine.ports.counters(0).opackets, 0u);
}

TEST(Engine, ARefusedStartLeavesNothingBehind) {
  Engine machine(wires(1, 2));
  const Subjects engine = machine.subjects();
  const auto a = engine.runs.start(small_http(1), {}, 0);
  // The port is taken.
  EXPECT_THROW(engine.runs.start(small_http(1), {}, 0), ProfileError);
  const auto c = engine.runs.start(small_http(1, 81), {}, 0);
  a->remove();
  const auto b = engine.runs.start(small_http(1), {}, 0);
}

TEST(Engine, ARunMayBeRemovedInFullFlight) {
  Engine machine(wires(1, 1));
  const Subjects engine = machine.subjects();
  RunOptions fast;
  fast.multiplier = 20;
  for (int round = 0; round < 5; ++round) {
    const auto a = engine.runs.start(small_http(1'000'000), fast, ~0u);
    std::this_thread::sleep_for(std::chrono::milliseconds(130 + round));
    a->remove();
  }
  EXPECT_EQ(engine.runs.population().ports_in_use, 0u);
  EXPECT_EQ(engine.cores.memory().at(0).in_use, 0u) << "flows";
}

TEST(Engine, PortsOnAWireResolveEachOther) {
  EngineConfig config = wires(1, 1);
  config.ports[0].address.ipv4 = config.ports[1].address.gateway = 0x01010101;
  config.ports[1].address.ipv4 = config.ports[0].address.gateway = 0x02020202;
  Engine machine(config);
  const Subjects engine = machine.subjects();
  eventually([&] { return engine.ports.state(0).resolved; });
  const auto a = engine.runs.start(small_http(10), {}, ~0u);
  finish(*a);
  expect_all_flows_whole(engine, *a, 10);
  EXPECT_EQ(engine.ports.state(0).destination, engine.ports.state(1).address.mac);

  PortAddress nobody = engine.ports.state(0).address;
  nobody.gateway = 0x03030303;
  engine.ports.configure(0, nobody);
  EXPECT_FALSE(engine.ports.state(0).resolved);
  EXPECT_EQ(engine.ports.state(0).address.gateway, nobody.gateway);
}

/// A gateway that moves: ARP reaches one core of a port's, flows are on all.
TEST(Engine, EveryCoreOfAPortFollowsAGatewayThatOneOfThemHears) {
  constexpr uint32_t kOurs = 0x01010101;
  constexpr uint32_t kGateway = 0x02020202;
  EngineConfig config = wires(1, 2);
  config.ports[0].address.ipv4 = kOurs;
  config.ports[0].address.gateway = kGateway;
  config.ports[1].address.destination = local_mac(0);  // no addresses: it answers nothing
  Engine machine(config);
  const Subjects engine = machine.subjects();
  const MacAddress first = engine.ports.state(1).address.mac;
  const MacAddress second{2, 0, 0, 0, 0, 0x77};
  engine.frames.send(1, {gratuitous_arp(kGateway, first)});  // arrives at the first core alone
  eventually([&] { return engine.ports.state(0).resolved; });
  const auto a = engine.runs.start(small_http(100'000), {}, ~0u);
  // A core that is late opens all the same, so both have opened some when so many more are open.
  const auto opens_more = [&] {
    const uint64_t before = a->status().opened;
    eventually([&] { return a->status().opened >= before + 500; });
  };
  opens_more();
  EXPECT_EQ(not_ours(engine, 1), (std::vector<uint64_t>{0, 0}));
  EXPECT_EQ(engine.ports.state(0).destination, first);
  EXPECT_FALSE(engine.ports.state(0).address.destination.has_value()) << "learned, not configured";

  engine.frames.send(1, {gratuitous_arp(kGateway, second)});
  opens_more();
  const std::vector<uint64_t> lost = not_ours(engine, 1);
  EXPECT_GT(lost.at(0), 0u);
  EXPECT_GT(lost.at(1), 0u) << "it still sends to where the gateway was";
  EXPECT_EQ(engine.ports.state(0).destination, second);
}

TEST(Engine, CountsCyclesOfWorkAndOfPolling) {
  Engine machine(wires(1, 1));
  const Subjects engine = machine.subjects();
  const CoreCycles before = engine.cores.cycles().at(0);
  const auto a = engine.runs.start(small_http(200), {}, ~0u);
  finish(*a);
  const CoreCycles after = engine.cores.cycles().at(0);
  EXPECT_GT(after.busy, before.busy);
  EXPECT_GT(after.total - before.total, after.busy - before.busy);
  EXPECT_GT(engine.cores.tsc_hz(), 100'000'000u);
}

/// The sequence number with which a new engine answers a SYN from each of a few ports.
std::vector<uint32_t> initial_sequences() {
  const std::string socket = fmt::format("socket=stackcost-test-start-{}", getpid());
  Engine machine(two_ports({"dummy", "net_memif0,role=server," + socket}));
  const Subjects engine = machine.subjects();
  const auto run = engine.runs.start(small_http(1), {}, ~0u);
  const auto peer =
      open_memif_port(parse_device_name("--vdev=net_memif1,role=client," + socket), 1);
  eventually([&] { return peer->link_up() && engine.ports.state(1).link_up; });
  PortQueue& queue = peer->queue(0);
  std::vector<uint32_t> sequences;
  for (const uint16_t port : {1024, 1025, 1026, 1027}) {
    queue.receive();
    queue.release();
    send(queue, syn(port));
    eventually([&] {
      const size_t before = sequences.size();
      for (const Frame& frame : queue.receive())
        if (const RxSegment segment = parse(frame);
            segment.kind == PacketKind::tcp && segment.destination_port() == port)
          sequences.push_back(segment.sequence());
      queue.release();
      return sequences.size() != before;
    });
  }
  return sequences;
}

TEST(Engine, DrawsTheKeyOfItsSequenceNumbersAtEachStart) {
  const std::vector<uint32_t> first = initial_sequences();
  const std::vector<uint32_t> second = initial_sequences();
  ASSERT_EQ(first.size(), 4u);
  ASSERT_EQ(second.size(), 4u);
  // Between the two starts their clock has gone on by far less than these minutes.
  constexpr uint32_t kTicks = static_cast<uint32_t>(60 * kSecond >> 12);
  size_t close = 0;
  for (size_t i = 0; i < first.size(); ++i) close += second[i] - first[i] < kTicks ? 1 : 0;
  EXPECT_LT(close, first.size());
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
