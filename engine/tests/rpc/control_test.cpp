#include <gmock/gmock.h>

#include "rpc/control_client.h"
#include "rpc/json_rpc.h"

namespace engine {
namespace {

using ::testing::HasSubstr;

TEST_F(ControlTest, HandshakeNeedsTheRightApi) {
  EXPECT_THAT(refusal("api_sync_v2", {{"name", "STL"}, {"major", 5}, {"minor", 1}}),
              HasSubstr("server RPC configuration: 'ASTF', client RPC configuration: 'STL'"));
  EXPECT_THAT(refusal("api_sync_v2", {{"name", "ASTF"}, {"major", 2}, {"minor", 4}}),
              HasSubstr("2.4"));
  EXPECT_TRUE(
      result("api_sync_v2", {{"name", "ASTF"}, {"major", 2}, {"minor", 0}}).contains("api_h"));
}

TEST_F(ControlTest, OnlyAFewMethodsWorkBeforeTheHandshake) {
  EXPECT_TRUE(raw("ping", {}).contains("result"));
  EXPECT_EQ(raw("get_version", {})["result"]["mode"], "ASTF");
  for (const Json& params : {Json(), Json{{"api_h", "wrong"}}, Json{{"api_h", 5}}})
    EXPECT_THAT(raw("get_system_info", params)["error"]["specific_err"],
                HasSubstr("API handler provided mismatch for class: 'ASTF'"));
}

TEST_F(ControlTest, ListsItsMethods) {
  const Json methods = result("get_supported_cmds");
  for (const char* name : {"get_profile_list", "get_supported_cmds", "start", "stackcost_get_cpu",
                           "stackcost_get_memory", "stackcost_get_schedule"})
    EXPECT_THAT(methods, ::testing::Contains(Json(name)));
}

TEST_F(ControlTest, EveryMethodNamesAMissingOrWrongParameter) {
  acquire();
  EXPECT_EQ(refusal("get_counter_values"), "parameter 'profile_id' (a string) is missing");
  EXPECT_EQ(refusal("get_counter_values", {{"profile_id", 5}}),
            "parameter 'profile_id' must be a string, not number");
  EXPECT_EQ(refusal("get_port_status", {{"port_id", 2}, {"handler", ""}}),
            "parameter 'port_id' must be an integer from 0 to 1, not 2");
  EXPECT_EQ(call("get_port_status", {{"port_id", -1}, {"handler", ""}})["error"]["code"], -32602);
  // No method breaks, whatever it is given.
  const std::vector<Json> values = {nullptr,          true,      -1, 1e300, UINT64_MAX, "x",
                                    Json::array({1}), {{"a", 1}}};
  for (const Json& name : result("get_supported_cmds"))
    for (const Json& value : values) {
      if (name == "shutdown" || name == "release" || name == "acquire") continue;
      Json params = Json::object();
      for (const char* parameter :
           {"profile_id",  "port_id",     "fragment", "mult",     "nc",         "duration",
            "client_mask", "attr",        "vlan",     "dst_mac",  "src_addr",   "dst_addr",
            "enabled",     "filtered",    "command",  "pkts",     "session_id", "tg_ids",
            "epoch",       "initialized", "ip_list",  "mac_list", "start_ip",   "end_ip",
            "dual_ip",     "seq_split",   "type",     "name",     "major",      "minor"})
        params[parameter] = value;
      params["handler"] = handlers_["handler"];
      const Json reply = call(name, params);
      EXPECT_NE(reply.value("/error/code"_json_pointer, 0), -32603) << name << " " << reply;
      EXPECT_NE(reply.value("/error/code"_json_pointer, 0), -32001) << name << " " << reply;
    }
}

TEST_F(ControlTest, ChangesNeedTheContext) {
  const std::string refused_text = "must acquire the context for this operation";
  EXPECT_EQ(
      refusal("start",
              {{"handler", ""}, {"profile_id", "_"}, {"mult", 1}, {"nc", false}, {"duration", 1}}),
      refused_text);
  acquire(1);
  const Json first = handlers_;
  EXPECT_EQ(refusal("acquire", {{"user", "u"}, {"session_id", 2}, {"force", false}}),
            "context is already taken (use 'force' argument to override)");
  acquire(2, true);
  EXPECT_EQ(refusal("stop", {{"profile_id", "_"}, {"handler", first["handler"]}}), refused_text);
  EXPECT_THAT(refusal("set_vlan",
                      {{"port_id", 0}, {"vlan", Json::array()}, {"handler", first["ports"]["0"]}}),
              HasSubstr("must acquire port 0"));
  EXPECT_EQ(result("get_port_status", {{"port_id", 0}})["owner"], "u");
  result("release");
  EXPECT_EQ(result("get_port_status", {{"port_id", 0}, {"handler", ""}})["owner"], "");
}

TEST_F(ControlTest, AForcedAcquireDropsAHalfUpload) {
  acquire(1);
  result("profile_fragment", {{"profile_id", "_"}, {"fragment", "{"}, {"frag_first", true}});
  acquire(2, true);
  EXPECT_THAT(
      refusal("profile_fragment", {{"profile_id", "_"}, {"fragment", "}"}, {"frag_last", true}}),
      HasSubstr("No upload in progress"));
}

TEST_F(ControlTest, EventsReachTheSessionThatAcquired) {
  acquire(5);
  load();
  const Json events = result("get_async_events", {{"session_id", 5}, {"user", "sub"}})["data"];
  ASSERT_EQ(events.size(), 2u);
  EXPECT_EQ(events[0]["type"], 60);
  EXPECT_TRUE(control_.state().subscribers.take_doorbell());
}

TEST_F(ControlTest, PortsTellTheTrueState) {
  acquire();
  const auto state = [&] { return result("get_port_status", {{"port_id", 1}})["state"]; };
  EXPECT_EQ(state(), "IDLE");
  load();
  EXPECT_EQ(state(), "ASTF_LOADED");
  start();
  EXPECT_EQ(state(), "TX");
}

TEST_F(ControlTest, StartChecksItsArguments) {
  acquire();
  load();
  const Json good = {{"profile_id", "_"}, {"mult", 1.5}, {"nc", false}, {"duration", 2.0}};
  const auto with = [&](const char* name, const Json& value) {
    Json params = good;
    params[name] = value;
    return refusal("start", params);
  };
  EXPECT_THAT(with("mult", 0), HasSubstr("'mult' must be above 0"));
  EXPECT_THAT(with("mult", -1), HasSubstr("'mult' must be above 0"));
  EXPECT_THAT(with("client_mask", -1), HasSubstr("client_mask"));
  EXPECT_THAT(with("client_mask", uint64_t{1} << 32), HasSubstr("client_mask"));
  Json endless = good;
  endless["duration"] = 1e300;
  endless["client_mask"] = 0;
  result("start", endless);
  pass(0.1);
  EXPECT_GT(stand_in().runs.at(1).options.duration, 0);
  EXPECT_EQ(stand_in().runs.at(1).client_mask, 0u);
  EXPECT_EQ(stand_in().runs.at(1).options.multiplier, 1.5);
}

Json latency_parameters() {
  return {{"mult", 100},
          {"src_addr", "16.0.0.1"},
          {"dst_addr", "48.0.0.1"},
          {"dual_port_addr", "1.0.0.0"},
          {"mask", 1}};
}

TEST_F(ControlTest, LatencyStreamsRunOnceAtATime) {
  acquire();
  EXPECT_THAT(refusal("update_latency", {{"mult", 5}}), HasSubstr("Latency is not active"));
  result("stop_latency");
  result("start_latency", latency_parameters());
  const auto& streams = stand_in().latency;
  EXPECT_EQ(streams.at(0).interval, 10 * kMillisecond);
  EXPECT_EQ(streams.at(0).source, 0x10000001u);
  EXPECT_EQ(streams.at(1).source, 0x30000001u);
  EXPECT_TRUE(streams.at(0).sends);
  EXPECT_FALSE(streams.at(1).sends);
  EXPECT_THAT(refusal("start_latency", latency_parameters()), HasSubstr("should stop latency"));
  result("update_latency", {{"mult", 1000}});
  EXPECT_EQ(streams.at(0).interval, kMillisecond);
  const uint8_t epoch = streams.at(0).epoch;
  result("stop_latency");
  result("start_latency", latency_parameters());
  EXPECT_NE(streams.at(0).epoch, epoch);
}

TEST_F(ControlTest, LatencyStreamsAreNotSentToThePortsThemselves) {
  acquire();
  stand_in().ports[1].address.ipv4 = 0x30000001;
  EXPECT_THAT(refusal("start_latency", latency_parameters()),
              HasSubstr("might reach port 1 with IP 48.0.0.1"));
  Json bad = latency_parameters();
  bad["src_addr"] = "here";
  EXPECT_THAT(refusal("start_latency", bad), HasSubstr("'src_addr' must be an IPv4 address"));
}

TEST_F(ControlTest, LatencyStreamsComeAndGoWithAProfile) {
  acquire();
  load();
  const Json with_latency = {
      {"profile_id", "_"}, {"mult", 1.0}, {"nc", false}, {"duration", -1}, {"latency_pps", 1000}};
  result("start", with_latency);
  pass(0.1);
  EXPECT_EQ(stand_in().latency.at(0).interval, kMillisecond);
  EXPECT_THAT(refusal("start_latency", latency_parameters()), HasSubstr("not idle"));
  result("stop", {{"profile_id", "_"}});
  EXPECT_EQ(stand_in().calls.back(), "stop_latency");
  pass(0.1);
  result("start_latency", latency_parameters());
  EXPECT_THAT(refusal("start", with_latency), HasSubstr("should stop latency first"));
}

TEST_F(ControlTest, AddressesOfPortsChange) {
  acquire();
  result("set_l3", {{"port_id", 0}, {"src_addr", "1.1.1.1"}, {"dst_addr", "1.1.1.2"}});
  Json layers = result("get_port_status", {{"port_id", 0}})["attr"]["layer_cfg"];
  EXPECT_EQ(layers["ipv4"],
            Json::parse(R"({"state":"unresolved","src":"1.1.1.1","dst":"1.1.1.2"})"));
  EXPECT_FALSE(layers["ether"].contains("dst"));
  result("set_l2", {{"port_id", 0}, {"dst_mac", "02:00:00:00:00:0A"}});
  layers = result("get_port_status", {{"port_id", 0}})["attr"]["layer_cfg"];
  EXPECT_EQ(layers["ipv4"]["state"], "none");
  EXPECT_EQ(layers["ether"]["dst"], "02:00:00:00:00:0a");
  result("set_vlan", {{"port_id", 0}, {"vlan", {30}}});
  EXPECT_EQ(stand_in().ports[0].address.tags, vlan_tags(30));
  EXPECT_EQ(result("get_port_status", {{"port_id", 0}})["attr"]["vlan"],
            Json::parse(R"({"tags":[30],"tpids":[33024]})"));
  result("set_vlan", {{"port_id", 0}, {"vlan", {100, 30}}});
  EXPECT_EQ(stand_in().ports[0].address.tags, (VlanTags{0x88a8'0064, 0x8100'001e}));
  EXPECT_EQ(result("get_port_status", {{"port_id", 0}})["attr"]["vlan"],
            Json::parse(R"({"tags":[100,30],"tpids":[34984,33024]})"));
  result("set_vlan", {{"port_id", 0}, {"vlan", {100, 30}}, {"tpids", {0x8100, 0x8100}}});
  EXPECT_EQ(stand_in().ports[0].address.tags, (VlanTags{0x8100'0064, 0x8100'001e}));
  result("set_vlan", {{"port_id", 0}, {"vlan", {100}}, {"tpids", {0x88a8}}});
  EXPECT_EQ(stand_in().ports[0].address.tags, (VlanTags{0x88a8'0064, 0}));
  EXPECT_THAT(refusal("set_vlan", {{"port_id", 0}, {"vlan", {1, 2, 3}}}), HasSubstr("two VLAN"));
  EXPECT_THAT(refusal("set_vlan", {{"port_id", 0}, {"vlan", {1, 2}}, {"tpids", {0x8100}}}),
              HasSubstr("one type for each tag"));
  EXPECT_THAT(refusal("set_vlan", {{"port_id", 0}, {"vlan", {1}}, {"tpids", {0x9100}}}),
              HasSubstr("34984"));
  result("set_vlan", {{"port_id", 0}, {"vlan", Json::array()}});
  EXPECT_EQ(stand_in().ports[0].address.tags, VlanTags{});
  for (const Json& tag : {Json(0), Json(4096), Json("x")})
    EXPECT_THAT(refusal("set_vlan", {{"port_id", 0}, {"vlan", {tag}}}), HasSubstr("vlan"));
  for (const char* mac : {"", "02:00:00:00:00:0", "02:00:00:00:00:0g", "02-00-00-00-00-01"})
    EXPECT_THAT(refusal("set_l2", {{"port_id", 0}, {"dst_mac", mac}}), HasSubstr("MAC address"));
  EXPECT_THAT(refusal("set_l3", {{"port_id", 0}, {"src_addr", "1.1.1"}, {"dst_addr", "1.1.1.2"}}),
              HasSubstr("'src_addr' must be an IPv4 address"));
}

TEST_F(ControlTest, LinkChangesAreTold) {
  acquire(1);
  pass(0.6);
  stand_in().ports[1].link_up = false;
  pass(0.6);
  const Json events = result("get_async_events", {{"session_id", 1}})["data"];
  ASSERT_EQ(events.size(), 1u);
  EXPECT_EQ(events[0]["type"], 8);
  EXPECT_EQ(events[0]["data"]["port_id"], 1);
  EXPECT_EQ(events[0]["data"]["attr"]["link"]["up"], false);
}

TEST_F(ControlTest, GroupStatisticsFollowTheEpoch) {
  acquire();
  EXPECT_EQ(result("get_tg_names", {{"profile_id", "_"}, {"initialized", false}})["tg_names"],
            Json::array());
  load();
  start();
  pass(1);
  const Json names = result("get_tg_names", {{"profile_id", "_"}, {"initialized", false}});
  EXPECT_EQ(names["tg_names"], Json::array({"A"}));
  const Json epoch = names["epoch"];
  EXPECT_FALSE(
      result("get_tg_names", {{"profile_id", "_"}, {"initialized", true}, {"epoch", epoch}})
          .contains("tg_names"));
  const Json statistics =
      result("get_tg_id_stats", {{"profile_id", "_"}, {"epoch", epoch}, {"tg_ids", {1}}});
  const Json all = result("get_counter_values", {{"profile_id", "_"}});
  EXPECT_EQ(statistics["1"]["client"]["14"], all["client"]["14"]);
  EXPECT_EQ(result("get_tg_id_stats", {{"profile_id", "_"}, {"epoch", -1}, {"tg_ids", {1}}}),
            (Json{{"epoch", epoch}}));
  for (int group : {0, 2})
    EXPECT_THAT(
        refusal("get_tg_id_stats", {{"profile_id", "_"}, {"epoch", epoch}, {"tg_ids", {group}}}),
        HasSubstr("from 1 to 1"));
  EXPECT_EQ(refusal("get_tg_id_stats",
                    {{"profile_id", "_"}, {"epoch", epoch}, {"tg_ids", Json::array_t(11, 1)}}),
            "Trying to get statistics for too many TGs. Max allowed is 10");
}

TEST_F(ControlTest, GlobalStatisticsShowRatesAndUse) {
  acquire();
  load();
  start();
  pass(3);
  const Json stats = result("get_global_stats");
  EXPECT_NEAR(stats["m_cpu_util_raw"], 25, 0.1);
  EXPECT_NEAR(stats["m_tx_cps"], 100, 1);
  EXPECT_NEAR(stats["m_tx_pps"], 2000, 1);
  EXPECT_NEAR(stats["m_tx_bps"], 1.6e6, 1e3);
  EXPECT_EQ(stats["m_active_flows"], 10);
  EXPECT_EQ(stats["m_total_clients"], 200);
  const Json history = result("get_utilization")["cpu"][0]["history"];
  EXPECT_EQ(history[0], 25);
  EXPECT_LE(history.size(), 20u);
}

TEST_F(ControlTest, IgnoredAddressesAreKept) {
  const Json list = Json::parse(R"([{"ip": 1}, {"ip": 4294967295}])");
  result("set_ignored_ips", {{"ip_list", list}});
  EXPECT_EQ(result("get_ignored_ips"), list);
  EXPECT_THAT(refusal("set_ignored_ips", {{"ip_list", {{{"ip", -1}}}}}), HasSubstr("'ip'"));
  EXPECT_THAT(refusal("set_ignored_macs", {{"mac_list", {5}}}), HasSubstr("'mac_addr'"));
  EXPECT_EQ(result("get_ignored_ips"), list);
}

TEST_F(ControlTest, ExtensionsTellWhatTrexCannot) {
  stand_in().now = 2;
  const Json cpu = result("stackcost_get_cpu");
  EXPECT_EQ(cpu["tsc_hz"], 1'000'000'000);
  EXPECT_EQ(cpu["cores"][0],
            Json::parse(R"({"core":0,"cpu":1,"total_cycles":2000000000,"busy_cycles":500000000,
                            "copying_cycles":125000000,"sending_cycles":250000000})"));
  EXPECT_EQ(result("stackcost_get_memory")["pools"][0]["object_bytes"], 256);
  EXPECT_EQ(result("stackcost_get_schedule", {{"profile_id", "_"}}),
            Json::parse(R"({"intended":0,"opened":0,"late":0,"unsent":0})"));
  EXPECT_EQ(refusal("stackcost_get_schedule", {{"profile_id", "x"}}), "Invalid profile : x");
  EXPECT_EQ(result("stackcost_get_held_flows", {{"profile_id", "_"}})["wanted"], 0);
  const Json drops = result("stackcost_get_drops");
  EXPECT_EQ(drops["cores"][1]["port"], 1);
  EXPECT_EQ(drops["cores"][1]["reasons"]["no_template"], 3);
  EXPECT_EQ(drops["cores"][1]["reasons"]["ring_full"], 0);
  EXPECT_EQ(drops["cores"][1]["path_mtu"], Json::parse(R"({"accepted":3,"least":1300})"));
  EXPECT_EQ(drops["cores"][0]["path_mtu"], Json::parse(R"({"accepted":0,"least":null})"));
  EXPECT_EQ(drops["devices"][1]["lost"], 1);
  EXPECT_EQ(drops["devices"][1]["refused"], 0);
}

TEST_F(ControlTest, FramesThatADeviceTakesAndDoesNotSendAreToldWhenTheyBeginAndWhenTheyDouble) {
  const auto told = [this](uint64_t refused) {
    stand_in().refused = refused;
    testing::internal::CaptureStderr();
    pass(0.6);
    return testing::internal::GetCapturedStderr();
  };
  EXPECT_EQ(told(0), "");
  EXPECT_THAT(told(100), HasSubstr("port 1: 100 frames that its device took were refused by the "
                                   "kernel"));
  EXPECT_EQ(told(199), "");
  EXPECT_THAT(told(200), HasSubstr("port 0: 200 frames"));
  EXPECT_EQ(result("stackcost_get_drops")["devices"][0]["refused"], 200);
}

TEST_F(ControlTest, TagsWhoseTypeADeviceDoesNotTellAreToldOnce) {
  const auto told = [this](uint64_t tags) {
    stand_in().assumed_tags = tags;
    testing::internal::CaptureStderr();
    pass(0.6);
    return testing::internal::GetCapturedStderr();
  };
  EXPECT_EQ(told(0), "");
  EXPECT_THAT(told(1), HasSubstr("port 1: its device takes VLAN tags out of frames"));
  EXPECT_EQ(told(1000), "");
}

TEST_F(ControlTest, NoticesAreOfTheProfileAndOfItsLastRun) {
  const Json of_profile = {{"profile_id", "_"}};
  const std::string of_run = "tcp.mss is 1460, and over IPv4 the MTU of port 0, 1400, leaves 1360";
  acquire(1);
  load();
  stand_in().run_notices = {of_run};
  EXPECT_EQ(result("stackcost_get_notices", of_profile)["notices"], Json::array());
  start();
  pass(0.1);
  EXPECT_EQ(result("stackcost_get_notices", of_profile)["notices"], Json::array({of_run}));
}

TEST_F(ControlTest, APartOfATurnThatFailsKeepsNoOtherFromBeingDone) {
  acquire(1);
  load();
  start();
  stand_in().on_call = [](const std::string& call) {
    if (call == "cycles") throw std::runtime_error("no answer");
  };
  stand_in().ports[1].link_up = false;
  pass(1.1);
  EXPECT_GT(control_.state().profiles.find("_").statistics.opens_per_second(), 90);
  const Json events = result("get_async_events", {{"session_id", 1}})["data"];
  EXPECT_EQ(events.back()["type"], 8) << "the link's change";
  EXPECT_GT(control_.advance(), 0) << "no failure is met again at once";
}

TEST_F(ControlTest, ARequestThatFailsInsideIsAnsweredWithTheReason) {
  stand_in().on_call = [](const std::string& call) {
    if (call == "memory") throw std::runtime_error("no answer");
  };
  const Json reply = call("stackcost_get_memory");
  EXPECT_EQ(reply["error"]["code"], -32603);
  EXPECT_EQ(reply["error"]["specific_err"], "no answer");
}

TEST_F(ControlTest, ShutdownAsksForForceWhenAnotherOwns) {
  acquire();
  EXPECT_THAT(refusal("shutdown", {{"force", false}, {"user", "other"}}), HasSubstr("'u'"));
  EXPECT_FALSE(control_.state().shutdown);
  result("shutdown", {{"force", true}, {"user", "other"}});
  EXPECT_TRUE(control_.state().shutdown);
}

}  // namespace
}  // namespace engine
