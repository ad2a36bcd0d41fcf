#include "io/config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace engine {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class Config : public testing::Test {
 protected:
  void SetUp() override {
    path_ = std::filesystem::temp_directory_path() /
            ("stackcost-config-" + std::to_string(getpid()) + ".yaml");
  }
  void TearDown() override { std::filesystem::remove(path_); }

  EngineConfig load(const std::string& text) {
    std::ofstream(path_) << text;
    return load_config(path_);
  }

  std::string refusal(const std::string& text) {
    try {
      load(text);
    } catch (const ConfigError& error) {
      return error.what();
    }
    return "accepted";
  }

  std::filesystem::path path_;
};

TEST_F(Config, TheExampleOfTrexsManual) {
  const EngineConfig config = load(R"(
- port_limit    : 2
  version       : 2
  interfaces    : ['03:00.0', '03:00.1', '04:00.0', '04:00.1']
  zmq_pub_port  : 4600
  zmq_rpc_port  : 4601
  prefix        : setup1
  limit_memory  : 1024
  c             : 4
  port_bandwidth_gb : 10
  services_core : 0
  port_info     :
    - default_gw : 1.1.1.1
      dest_mac   : '00:00:00:01:00:0a'
      src_mac    : '00:00:00:02:00:00'
      ip         : 2.2.2.2
      vlan       : 15
    - dest_mac   : [0x0,0x0,0x0,0x7,0x0,0x01]
      src_mac    : [0x0,0x0,0x0,0x8,0x0,0x02]
  memory        :
    mbuf_64     : 16380
    traffic_mbuf_2048 : 4096
    dp_flows    : 2000000
  platform      :
    master_thread_id  : 0
    latency_thread_id : 5
    dual_if :
      - socket : 0
        threads : [1, 2, 3, 4]
)");
  ASSERT_EQ(config.ports.size(), 2u);
  EXPECT_EQ(config.ports[0].device, "03:00.0");
  const PortAddress& first = config.ports[0].address;
  EXPECT_EQ(first.ipv4, 0x02020202u);
  EXPECT_EQ(first.gateway, 0x01010101u);
  EXPECT_EQ(first.tags, vlan_tags(15));
  EXPECT_EQ(first.destination, (MacAddress{0, 0, 0, 1, 0, 10}));
  EXPECT_EQ(first.mac, (MacAddress{0, 0, 0, 2, 0, 0}));
  EXPECT_EQ(config.ports[1].address.destination, (MacAddress{0, 0, 0, 7, 0, 1}));
  EXPECT_FALSE(config.ports[1].address.ipv4.has_value());
  EXPECT_EQ(config.async_port, 4600);
  EXPECT_EQ(config.rpc_port, 4601);
  EXPECT_EQ(config.prefix, "setup1");
  EXPECT_EQ(config.memory_mb, 1024u);
  EXPECT_EQ(config.cores_per_pair, 4u);
  EXPECT_EQ(config.max_flows, 2'000'000u);
  EXPECT_EQ(config.control_cpu, 0u);
  EXPECT_THAT(config.data_cpus, ElementsAre(1, 2, 3, 4));
  EXPECT_THAT(config.notices, IsEmpty());
}

TEST_F(Config, AMappingAloneWillDo) {
  const EngineConfig config = load("interfaces: [wire, wire]\n");
  EXPECT_EQ(config.ports.size(), 2u);
  EXPECT_EQ(config.rpc_port, 4501);
  EXPECT_EQ(config.cores_per_pair, 1u);
}

TEST_F(Config, ThreadsAreDealtPairByPair) {
  const EngineConfig config = load(R"(
interfaces: [a, b, c, d]
platform: {dual_if: [{socket: 0, threads: [1, 2, 3]}, {socket: 1, threads: [11, 12]}]}
)");
  EXPECT_THAT(config.data_cpus, ElementsAre(1, 11, 2, 12, 3));
}

TEST_F(Config, PairsWithoutThreadsLeaveThemToTheEngine) {
  for (const char* pairs : {"[]", "[{socket: 0}]", "[{threads: []}]"}) {
    const std::string platform = "platform: {dual_if: " + std::string(pairs) + "}\n";
    EXPECT_THAT(load("interfaces: [a, b]\n" + platform).data_cpus, IsEmpty()) << pairs;
  }
}

TEST_F(Config, EverythingOnOneCpu) {
  const EngineConfig config = load("interfaces: [wire, wire]\nlow_end: true\nlow_end_core: 1\n");
  EXPECT_EQ(config.control_cpu, 1u);
  EXPECT_THAT(config.data_cpus, ElementsAre(1));
}

TEST_F(Config, ZeroAddressesAreNone) {
  const EngineConfig config =
      load("interfaces: [a, b]\nport_info: [{ip: 0.0.0.0, default_gw: 0.0.0.0}]\n");
  EXPECT_FALSE(config.ports[0].address.ipv4.has_value());
  EXPECT_FALSE(config.ports[0].address.gateway.has_value());
}

TEST_F(Config, UnknownKeysGiveOneNotice) {
  const EngineConfig config =
      load("interfaces: [a, b]\ncolour: red\nplatform: {shape: round}\nport_speed: 1\n");
  ASSERT_EQ(config.notices.size(), 1u);
  EXPECT_THAT(config.notices[0], AllOf(HasSubstr("colour"), HasSubstr("shape")));
}

TEST_F(Config, AMissingFileIsNamed) {
  try {
    load_config("/nowhere/trex_cfg.yaml");
    FAIL();
  } catch (const ConfigError& error) {
    EXPECT_THAT(error.what(), AllOf(HasSubstr("/nowhere/trex_cfg.yaml"), HasSubstr("No such file"),
                                    HasSubstr("--cfg")));
  }
}

TEST_F(Config, WhatIsNotYamlIsToldWithItsLine) {
  EXPECT_THAT(refusal("interfaces: [a, b]\nc: [1\nd: 2\n"),
              AllOf(HasSubstr(path_.string()), HasSubstr(" line 3"), HasSubstr("not YAML")));
  EXPECT_THAT(refusal(""), HasSubstr("expected a mapping"));
  EXPECT_THAT(refusal("- a: 1\n- b: 2\n"), HasSubstr("expected a mapping"));
  EXPECT_THAT(refusal("just words"), HasSubstr("expected a mapping"));
}

TEST_F(Config, PortsComeInPairs) {
  EXPECT_THAT(refusal("interfaces: [a, b, c]\n"),
              AllOf(HasSubstr("line 1"), HasSubstr("pairs"), HasSubstr("dummy")));
  EXPECT_THAT(refusal("interfaces: []\n"), HasSubstr("pairs"));
  EXPECT_THAT(refusal("interfaces: [a, b]\nport_limit: 1\n"), HasSubstr("pairs"));
  EXPECT_THAT(refusal("interfaces: [a, b]\nport_limit: 4\n"), HasSubstr("port_limit is 4"));
  EXPECT_THAT(refusal("port_limit: 2\n"), HasSubstr("no \"interfaces\""));
  EXPECT_THAT(refusal("interfaces: eth1\n"), HasSubstr("a list of ports"));
  EXPECT_THAT(refusal("interfaces: [wire, eth1]\n"), HasSubstr("joins both ports"));
}

/// Clients name ports by the bits of a mask of 32 (client_mask, mask): a port beyond has no bit.
TEST_F(Config, PortsBeyondWhatAMaskCanNameAreRefused) {
  const auto ports = [](size_t count) {
    std::string list = "interfaces: [dummy";
    for (size_t i = 1; i < count; ++i) list += ", dummy";
    return list + "]\n";
  };
  EXPECT_EQ(load(ports(32)).ports.size(), 32u);
  EXPECT_THAT(refusal(ports(34)), AllOf(HasSubstr("line 1"), HasSubstr("34 ports"),
                                        HasSubstr("at most 32"), HasSubstr("port_limit")));
  EXPECT_EQ(load(ports(34) + "port_limit: 32\n").ports.size(), 32u);
  EXPECT_THAT(refusal(ports(34) + "port_limit: 33\n"), HasSubstr("from 1 to 32"));
}

TEST_F(Config, EveryWrongValueIsToldWithKeyAndLine) {
  const auto with = [this](const std::string& line) {
    return refusal("interfaces: [a, b]\n" + line + "\n");
  };
  EXPECT_THAT(with("zmq_rpc_port: abc"),
              AllOf(HasSubstr("line 2"), HasSubstr("zmq_rpc_port"), HasSubstr("\"abc\"")));
  EXPECT_THAT(with("zmq_pub_port: 70000"), HasSubstr("from 1 to 65535"));
  EXPECT_THAT(with("c: 0"), HasSubstr("c: expected"));
  EXPECT_THAT(with("c: -1"), HasSubstr("c: expected"));
  EXPECT_THAT(with("limit_memory: [1]"), HasSubstr("found a list"));
  EXPECT_THAT(with("low_end: maybe"), HasSubstr("true or false"));
  EXPECT_THAT(with("memory: {dp_flows: many}"), HasSubstr("dp_flows"));
  EXPECT_THAT(with("memory: 5"), HasSubstr("memory: expected a mapping"));
  EXPECT_THAT(with("platform: {master_thread_id: x}"), HasSubstr("master_thread_id"));
  EXPECT_THAT(with("platform: {dual_if: 3}"), HasSubstr("dual_if: expected a list"));
  EXPECT_THAT(with("platform: {dual_if: [{threads: 3}]}"), HasSubstr("list of CPU numbers"));
  EXPECT_THAT(with("port_info: {ip: 1.1.1.1}"), HasSubstr("port_info: expected a list"));
  EXPECT_THAT(with("port_info: [{ip: 1.1.1}]"), HasSubstr("ip: expected an IPv4 address"));
  EXPECT_THAT(with("port_info: [{default_gw: 1.1.1.1}]"), HasSubstr("without ip"));
  EXPECT_THAT(with("port_info: [{default_gw_ipv6: fe80::1}]"), HasSubstr("without ipv6"));
  EXPECT_THAT(with("port_info: [{ipv6: 1.1.1.1}]"), HasSubstr("a unicast IPv6 address"));
  EXPECT_THAT(with("port_info: [{ipv6: ff02::1}]"), HasSubstr("a unicast IPv6 address"));
  EXPECT_THAT(with("port_info: [{dest_mac: '00:00'}]"), HasSubstr("MAC address"));
  EXPECT_THAT(with("port_info: [{dest_mac: '00:00:00:00:00:0g'}]"), HasSubstr("MAC address"));
  EXPECT_THAT(with("port_info: [{src_mac: [1, 2]}]"), HasSubstr("MAC address"));
  EXPECT_THAT(with("port_info: [{vlan: 4096}]"), HasSubstr("vlan"));
  EXPECT_THAT(with("port_info: [{vlan: [100, 30, 1]}]"), HasSubstr("two in a list"));
}

TEST_F(Config, PortMtuIsRefusedBecauseItWouldDoNothing) {
  try {
    parse_config("port_limit: 2\nversion: 2\ninterfaces: [dummy, dummy]\nport_mtu: 9000\n", "file");
    FAIL() << "taken";
  } catch (const ConfigError& error) {
    EXPECT_THAT(error.what(), testing::StartsWith("file line 4: port_mtu is not used"));
  }
}

}  // namespace
}  // namespace engine
