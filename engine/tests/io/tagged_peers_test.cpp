// VLAN tags on packet sockets, whose frames may have one tag of 802.1Q beyond the MTU and no other:
// full segments pass all the same, between two engines and to a kernel.

#include <arpa/inet.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sched.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdlib>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "io/engine_tools.h"
#include "io/packet_socket.h"
#include "net/ethernet.h"

namespace engine::tagged_peers {
namespace {

constexpr size_t kRequest = 60'000, kResponse = 90'000;

void command(const std::string& line) {
  EXPECT_EQ(std::system(line.c_str()), 0) << line;
}

/// Has `test` done with the ends va and vb of a veth in a network namespace of its own.
void over_veth(const std::function<void()>& test) {
  bool possible = true;
  std::thread([&] {
    possible = unshare(CLONE_NEWNET) == 0;
    if (!possible) return;
    command("ip link add va type veth peer name vb && ip link set va up && ip link set vb up");
    test();
  }).join();
  if (!possible) GTEST_SKIP() << "no network namespace to be had: run as root";
}

std::shared_ptr<const Profile> long_exchange(uint32_t flows, uint16_t server_port, bool ipv6) {
  return parse_profile(
      fmt::format(
          R"({{"buf_list": [{{"base": "R0VU", "size": {}}}, {{"base": "SA==", "size": {}}}],
          "ip_gen_dist_list": [
            {{"ip_start": "16.0.0.1", "ip_end": "16.0.0.200", "distribution": "seq", "dir": "c",
             "ip_offset": "1.0.0.0"}},
            {{"ip_start": "48.0.0.1", "ip_end": "48.0.0.1", "distribution": "seq", "dir": "s",
             "ip_offset": "1.0.0.0"}}],
          "program_list": [
            {{"commands": [{{"name": "tx", "buf_index": 0}}, {{"name": "rx", "min_bytes": {}}}]}},
            {{"commands": [{{"name": "rx", "min_bytes": {}}}, {{"name": "tx", "buf_index": 1}}]}}],
          "templates": [{{
            "client_template": {{"program_index": 0, "port": {}, "cps": 100, "limit": {},
              "ip_gen": {{"dist_client": {{"index": 0}}, "dist_server": {{"index": 1}}}},
              "cluster": {{}}}},
            "server_template": {{"program_index": 1, "assoc": [{{"port": {}}}]}}}}]}})",
          kRequest, kResponse, kResponse, kRequest, server_port, flows, server_port),
      ipv6);
}

struct Kind {
  const char* name;
  VlanTags tags;
  uint32_t taken;  ///< bytes of the MTU that the tags take
};

constexpr uint32_t customer(uint32_t id) {
  return uint32_t{kEtherTypeVlan} << 16 | id;
}
constexpr uint32_t service(uint32_t id) {
  return uint32_t{kEtherTypeServiceVlan} << 16 | id;
}

const Kind kKinds[] = {{"None", {}, 0},
                       {"OneOf8021Q", {customer(100), 0}, 0},
                       {"OneOf8021ad", {service(100), 0}, 4},
                       {"TwoOf8021Q", {customer(100), customer(200)}, 4},
                       {"Of8021adAnd8021Q", {service(100), customer(200)}, 8}};

class TaggedPeers : public testing::TestWithParam<Kind> {};

void expect_none_refused(const Subjects& engine) {
  for (const PortDrops& one : engine.ports.drops()) EXPECT_EQ(one.drops[Drop::frame_refused], 0u);
}

TEST_P(TaggedPeers, OnTwoEnginesExchangeAllBytes) {
  over_veth([] {
    for (const bool ipv6 : {false, true}) {
      EngineConfig config = two_ports({"packet:va", "packet:vb"});
      for (PortConfig& port : config.ports) port.address.tags = GetParam().tags;
      Engine engine(config);
      const auto run = engine.subjects().runs.start(long_exchange(20, 80, ipv6), {}, 1);
      finish(*run);
      const RunCounters counters = counters_of(engine.subjects(), *run);
      EXPECT_EQ(counters.sum(Side::server)[Counter::tcps_rcvbyte], 20 * kRequest);
      EXPECT_EQ(counters.sum(Side::client)[Counter::tcps_rcvbyte], 20 * kResponse);
      for (const Side side : {Side::client, Side::server})
        EXPECT_EQ(counters.sum(side)[Counter::tcps_sndrexmitpack], 0u);
      expect_none_refused(engine.subjects());
      const std::vector<std::string>& notices = run->notices();
      ASSERT_EQ(notices.size(), GetParam().taken == 0 ? 0u : 2u);
      for (const std::string& notice : notices)
        EXPECT_NE(notice.find(fmt::format("1500 less {} of VLAN tags", GetParam().taken)),
                  std::string::npos)
            << notice;
      run->remove();
    }
  });
}

/// A connection of the kernel's: sends the request, returns the bytes of the response.
size_t exchange() {
  const int any = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const timeval limit{20, 0};
  setsockopt(any, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
  setsockopt(any, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
  sockaddr_in server{};
  server.sin_family = AF_INET;
  server.sin_port = htons(80);
  inet_pton(AF_INET, "48.0.0.1", &server.sin_addr);
  EXPECT_EQ(connect(any, reinterpret_cast<const sockaddr*>(&server), sizeof server), 0);
  const std::vector<uint8_t> request(kRequest, 'G');
  EXPECT_EQ(send(any, request.data(), request.size(), MSG_NOSIGNAL), ssize_t{kRequest});
  std::vector<uint8_t> room(65536);
  size_t received = 0;
  ssize_t length;
  while ((length = recv(any, room.data(), room.size(), 0)) > 0)
    received += static_cast<size_t>(length);
  EXPECT_EQ(length, 0);
  close(any);
  return received;
}

/// The engine answers in the VLANs that the kernel's SYN came in; nobody has told it of them.
TEST_P(TaggedPeers, OfWhichOneIsAKernelExchangeAllBytes) {
  over_veth([] {
    if (GetParam().tags.any() &&
        std::system("ip link add link vb name try type vlan id 1 2>/dev/null") != 0)
      GTEST_SKIP() << "no VLAN devices: modprobe 8021q";
    std::string device = "vb";
    for (const uint32_t tag : {GetParam().tags.outer, GetParam().tags.inner}) {
      if (tag == 0) break;
      const std::string below = std::exchange(device, device + "t");
      command(fmt::format(
          "ip link add link {} name {} type vlan proto {} id {} && ip link set {} up", below,
          device, tag >> 16 == kEtherTypeVlan ? "802.1Q" : "802.1ad", tag & kVlanIdMask, device));
    }
    command(fmt::format("ip address add 16.0.0.1/8 dev {} && ip route add 48.0.0.0/8 dev {}",
                        device, device));
    EngineConfig config = two_ports({"dummy", "packet:va"});
    Engine engine(config);
    const MacAddress& mac = engine.subjects().ports.state(1).address.mac;
    command(
        fmt::format("ip neighbor add 48.0.0.1 dev {} lladdr {:02x}", device, fmt::join(mac, ":")));
    const auto run = engine.subjects().runs.start(long_exchange(1, 80, false), {}, 0);
    for (int i = 0; i < 5; ++i) EXPECT_EQ(exchange(), kResponse);
    const RunCounters counters = counters_of(engine.subjects(), *run);
    EXPECT_EQ(counters.sum(Side::server)[Counter::tcps_rcvbyte], 5 * kRequest);
    EXPECT_EQ(counters.sum(Side::server)[Counter::tcps_sndrexmitpack], 0u);
    expect_none_refused(engine.subjects());
    run->remove();
  });
}

INSTANTIATE_TEST_SUITE_P(Tags, TaggedPeers, testing::ValuesIn(kKinds),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace engine::tagged_peers
