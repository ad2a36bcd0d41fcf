#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "astf/profile.h"
#include "json/parse_profile.h"
#include "json/profile_json.h"

namespace engine {
namespace {

using nlohmann::json;

TEST(Tunables, GlobalOnesHoldForTheirSide) {
  json profile = small_profile();
  profile["c_glob_info"] = {{"tcp", {{"mss", 1200}, {"no_delay", 3}, {"keepidle", 9}}},
                            {"ip", {{"tos", 7}, {"ttl", 100}}}};
  profile["s_glob_info"] = {{"tcp", {{"initwnd", 2}, {"rxbufsize", 65536}, {"do_sack", 0}}}};
  const auto parsed = profile_of(profile);
  const Tunables& client = parsed->templates[0].client_tunables;
  EXPECT_EQ(client.mss, 1200);
  EXPECT_FALSE(client.nagle);
  EXPECT_TRUE(client.push_always);
  EXPECT_EQ(client.keep_idle_s, 9u);
  EXPECT_EQ(client.tos, 6) << "the lowest bit is always off";
  EXPECT_EQ(client.ttl, 100);
  EXPECT_EQ(client.initial_window, 10);
  EXPECT_TRUE(client.sack);
  const Tunables& server = parsed->templates[0].server_tunables;
  EXPECT_EQ(server.mss, 1460);
  EXPECT_EQ(server.initial_window, 2);
  EXPECT_EQ(server.receive_buffer, 65536u);
  EXPECT_FALSE(server.sack);
  EXPECT_EQ(server.ttl, 127);
  EXPECT_EQ(parsed->client_defaults.mss, 1200);
  EXPECT_EQ(parsed->server_defaults.initial_window, 2);
}

TEST(Tunables, ATemplateGoesBeforeGlobalWhereItCan) {
  json profile = small_profile();
  profile["c_glob_info"]["tcp"] = {{"mss", 1200}, {"initwnd", 3}, {"delay_ack_msec", 50}};
  profile["templates"][0]["client_template"]["glob_info"]["tcp"] = {{"mss", 1400},
                                                                    {"delay_ack_msec", 70}};
  const auto parsed = profile_of(profile);
  const Tunables& client = parsed->templates[0].client_tunables;
  EXPECT_EQ(client.mss, 1400);
  EXPECT_EQ(client.initial_window, 3);
  EXPECT_EQ(client.delayed_ack_ms, 50u) << "counts for a whole side only";
  EXPECT_EQ(parsed->client_defaults.mss, 1200);
}

TEST(Tunables, OutOfRangeLeavesTheDefaultAndANotice) {
  json profile = small_profile();
  profile["c_glob_info"] = {{"tcp", {{"mss", 1}, {"initwnd", 5}, {"keepinit", 99999999}}},
                            {"scheduler", {{"rampup_sec", 2}}}};
  const auto parsed = profile_of(profile);
  EXPECT_EQ(parsed->client_defaults.mss, 1460);
  EXPECT_EQ(parsed->client_defaults.initial_window, 5);
  EXPECT_EQ(parsed->rampup_s, 0);
  ASSERT_EQ(parsed->notices.size(), 3u);
  EXPECT_THAT(parsed->notices[0],
              testing::HasSubstr("c_glob_info, tcp: mss is 1, not from 10 to 9216"));
}

TEST(Tunables, WrongTypesAreRefused) {
  for (const json& value : {json("1460"), json(1460.5), json::array(), json::object()}) {
    json profile = small_profile();
    profile["c_glob_info"]["tcp"]["mss"] = value;
    EXPECT_THROW(profile_of(profile), ProfileError) << value;
  }
  json profile = small_profile();
  profile["c_glob_info"] = 5;
  EXPECT_THROW(profile_of(profile), ProfileError);
}

TEST(Tunables, Ipv6) {
  json profile = small_profile();
  json bytes = json::array();
  for (int i = 0; i < 16; ++i) bytes.push_back(i == 0 ? 0xff : i);
  profile["c_glob_info"]["ipv6"] = {{"src_msb", bytes}, {"dst_msb", bytes}, {"enable", 1}};
  profile["templates"][0]["client_template"]["glob_info"]["ipv6"]["enable"] = 0;
  const auto parsed = profile_of(profile);
  const Tunables& client = parsed->templates[0].client_tunables;
  EXPECT_TRUE(client.ipv6) << "what is enabled for all is not disabled for one";
  EXPECT_EQ(client.source_msb, (std::array<uint32_t, 3>{0xff010203, 0x04050607, 0x08090a0b}));
  EXPECT_EQ(client.destination_msb[0], 0xff010203);
  EXPECT_EQ(client.ttl, 64);
  EXPECT_EQ(parsed->templates[0].server_tunables.ttl, 64) << "servers answer in the same version";

  bytes.push_back(0);
  profile["c_glob_info"]["ipv6"]["src_msb"] = bytes;
  EXPECT_THROW(profile_of(profile), ProfileError);
}

TEST(Tunables, Ipv6ByStart) {
  json profile = small_profile();
  EXPECT_FALSE(profile_of(profile)->templates[0].client_tunables.ipv6);
  const auto forced = profile_of(profile, true);
  EXPECT_TRUE(forced->client_defaults.ipv6);
  EXPECT_TRUE(forced->templates[0].client_tunables.ipv6);
  EXPECT_TRUE(forced->templates[0].server_tunables.ipv6);
  EXPECT_EQ(forced->templates[0].client_tunables.ttl, 64);
  EXPECT_EQ(forced->templates[0].client_tunables.mss, 1440);
  EXPECT_EQ(forced->templates[0].server_tunables.mss, 1440);
  profile["c_glob_info"]["ip"]["ttl"] = 127;
  EXPECT_EQ(profile_of(profile, true)->templates[0].client_tunables.ttl, 127);
  profile["c_glob_info"]["tcp"]["mss"] = 1300;
  EXPECT_EQ(profile_of(profile, true)->templates[0].client_tunables.mss, 1300);
}

TEST(Tunables, Ipv6OfOneTemplate) {
  json profile = small_profile();
  profile["templates"].push_back(profile["templates"][0]);
  profile["templates"][1]["client_template"]["glob_info"]["ipv6"]["enable"] = 1;
  const auto parsed = profile_of(profile);
  EXPECT_FALSE(parsed->templates[0].client_tunables.ipv6);
  EXPECT_EQ(parsed->templates[0].client_tunables.ttl, 127);
  EXPECT_TRUE(parsed->templates[1].client_tunables.ipv6);
  EXPECT_EQ(parsed->templates[1].client_tunables.ttl, 64);
  EXPECT_EQ(parsed->templates[1].server_tunables.ttl, 64);
  EXPECT_EQ(parsed->templates[0].client_tunables.mss, 1460);
  EXPECT_EQ(parsed->templates[1].client_tunables.mss, 1440);
  EXPECT_EQ(parsed->templates[1].server_tunables.mss, 1440);
}

TEST(Tunables, AGlobalValueHoldsOverIpv6EvenWhereItIsIpv4sDefault) {
  json profile = small_profile();
  profile["templates"].push_back(profile["templates"][0]);
  profile["templates"][1]["client_template"]["glob_info"]["ipv6"]["enable"] = 1;
  for (const char* side : {"c_glob_info", "s_glob_info"})
    profile[side] = {{"tcp", {{"mss", 1460}}}, {"ip", {{"ttl", 127}}}};
  for (const bool all : {false, true}) {
    const auto parsed = profile_of(profile, all);
    const Template& of_ipv6 = parsed->templates[1];
    for (const Tunables* tunables : {&of_ipv6.client_tunables, &of_ipv6.server_tunables}) {
      EXPECT_TRUE(tunables->ipv6);
      EXPECT_EQ(tunables->mss, 1460);
      EXPECT_EQ(tunables->ttl, 127);
    }
    EXPECT_TRUE(parsed->notices.empty());
  }
}

}  // namespace
}  // namespace engine
