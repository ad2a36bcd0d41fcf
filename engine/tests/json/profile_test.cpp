#include "astf/profile.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "json/base64.h"
#include "json/parse_profile.h"
#include "json/profile_json.h"

namespace engine {
namespace {

using nlohmann::json;

/// Expects that the profile is refused with exactly these words.
void expect_refused(const json& profile, const std::string& message) {
  try {
    profile_of(profile);
    ADD_FAILURE() << "accepted, expected: " << message;
  } catch (const ProfileError& error) {
    EXPECT_EQ(error.what(), message);
  }
}

TEST(Base64, IsReadWithAndWithoutPaddingAndWrittenWithIt) {
  EXPECT_EQ(decode_base64(""), "");
  EXPECT_EQ(decode_base64("Zg=="), "f");
  EXPECT_EQ(decode_base64("Zm8="), "fo");
  EXPECT_EQ(decode_base64("Zm9v"), "foo");
  EXPECT_EQ(decode_base64("Zm9vYg"), "foob");
  EXPECT_EQ(encode_base64("foob"), "Zm9vYg==");
  EXPECT_EQ(encode_base64(""), "");
  EXPECT_EQ(decode_base64("+/8A"), std::string("\xfb\xff\0", 3));
  for (const char* wrong : {"Z", "Zm9vY", "Zm=v", "Zm9v\n", "Zm 9", "====", "Zg==="})
    EXPECT_EQ(decode_base64(wrong), std::nullopt) << wrong;
}

TEST(Profile, SmallOneParses) {
  const auto profile = profile_of(small_profile());
  ASSERT_EQ(profile->buffers.size(), 2u);
  EXPECT_EQ(profile->buffers[0].size(), 3u);
  EXPECT_EQ(std::string(reinterpret_cast<const char*>(profile->buffers[1].at(0, 8)), 8),
            "abczzzzz" + std::string());
  EXPECT_EQ(profile->buffers[1].size(), 100u);
  ASSERT_EQ(profile->ranges.size(), 2u);
  EXPECT_EQ(profile->ranges[0].first, 0x10000000u);
  EXPECT_EQ(profile->ranges[0].last, 0x100000ffu);
  EXPECT_EQ(profile->ranges[0].pair_offset, 0x01000000u);
  EXPECT_TRUE(profile->ranges[0].client);
  EXPECT_FALSE(profile->ranges[1].client);
  ASSERT_EQ(profile->templates.size(), 1u);
  const Template& only = profile->templates[0];
  EXPECT_EQ(only.client_program, 0u);
  EXPECT_EQ(only.server_program, 1u);
  EXPECT_EQ(only.client_range, 0u);
  EXPECT_EQ(only.server_range, 1u);
  EXPECT_EQ(only.destination_port, 80);
  EXPECT_EQ(only.server_port, 80);
  EXPECT_EQ(only.server_first, 0u);
  EXPECT_EQ(only.server_last, UINT32_MAX);
  EXPECT_EQ(only.cps, 2.5);
  EXPECT_EQ(only.limit, 0u);
  EXPECT_EQ(only.group, 0u);
  EXPECT_EQ(profile->rampup_s, 0);
  EXPECT_TRUE(profile->notices.empty());
}

TEST(Profile, TemplateExtras) {
  json profile = small_profile();
  profile["tg_names"] = {"A", "B"};
  profile["c_glob_info"]["scheduler"]["rampup_sec"] = 5;
  json& t = profile["templates"][0];
  t["tg_id"] = 2;
  t["client_template"].erase("cps");
  t["client_template"]["limit"] = 10;
  t["client_template"]["cont"] = true;
  t["server_template"]["assoc"][0] = {
      {"port", 81}, {"ip_start", "48.0.0.0"}, {"ip_end", "48.0.0.9"}};
  profile["ip_gen_dist_list"][0]["per_core_distribution"] = "seq";
  const auto parsed = profile_of(profile);
  const Template& only = parsed->templates[0];
  EXPECT_EQ(only.group, 2u);
  EXPECT_EQ(only.cps, 0);
  EXPECT_EQ(only.limit, 10u);
  EXPECT_TRUE(only.limit_is_concurrent);
  EXPECT_EQ(only.destination_port, 80);
  EXPECT_EQ(only.server_port, 81);
  EXPECT_EQ(only.server_first, 0x30000000u);
  EXPECT_EQ(only.server_last, 0x30000009u);
  EXPECT_TRUE(parsed->ranges[0].per_core);
  EXPECT_EQ(parsed->rampup_s, 5);
  EXPECT_EQ(parsed->group_names, (std::vector<std::string>{"A", "B"}));
}

TEST(Profile, Layer7MapTakesValuesFromTheClientsFirstPayload) {
  json profile = small_profile();
  json& assoc = profile["templates"][0]["server_template"]["assoc"][0];
  assoc["l7_map"] = {{"offset", {0, 2}}, {"mask", {0x0f}}};
  const Layer7Map map = profile_of(profile)->templates[0].layer7_map.value();
  EXPECT_EQ(map.offsets, (std::vector<uint16_t>{0, 2}));
  EXPECT_EQ(map.masks, (std::vector<uint8_t>{0x0f, 0xff}));
  EXPECT_EQ(map.values, (std::vector<uint8_t>{'G' & 0x0f, 'T'}));
  assoc["l7_map"]["value"] = {1, 2};
  EXPECT_EQ(profile_of(profile)->templates[0].layer7_map->values, (std::vector<uint8_t>{1, 2}));
  assoc["l7_map"]["value"] = {1};
  expect_refused(profile,
                 "template 0, server_template, assoc, l7_map: value must have as many elements as "
                 "offset");
  assoc["l7_map"] = {{"offset", {3}}};
  expect_refused(profile,
                 "template 0, server_template, assoc, l7_map: offset 3 lies beyond the client's "
                 "first payload of 3 bytes");
  assoc["l7_map"] = {{"offset", {2, 1}}};
  expect_refused(profile, "template 0, server_template, assoc, l7_map: offset must ascend");
}

TEST(Profile, WhatIsWrongIsNamed) {
  EXPECT_THROW(parse_profile("", false), ProfileError);
  EXPECT_THROW(parse_profile("{\"buf_list\":", false), ProfileError);
  EXPECT_THROW(parse_profile("{\"cps\": 1e999}", false), ProfileError);
  expect_refused(json::array(), "profile: must be an object");

  struct Case {
    const char* pointer;
    json value;
    const char* message;
  };
  const std::string client = "/templates/0/client_template";
  const Case cases[] = {
      {"/buf_list/0", "!!!!", "buffer 0: is not base64"},
      {"/buf_list/0", 5, "buffer 0: must be an object"},
      {"/buf_list/1/size", -1, "buffer 1: size must be an integer from 0 to 2147483647"},
      {"/buf_list/1/size", 2147483648, "buffer 1: size must be an integer from 0 to 2147483647"},
      {"/buf_list/1/fill", "=", "buffer 1: fill is not base64"},
      {"/program_list", "x", "profile: program_list must be a list"},
      {"/ip_gen_dist_list/0/ip_start", "16.0.0.256",
       "ip_gen_dist_list 0: ip_start must be an IPv4 address, is \"16.0.0.256\""},
      {"/ip_gen_dist_list/0/ip_start", "17.0.0.0",
       "ip_gen_dist_list 0: IP start: 17.0.0.0 is bigger than IP end: 16.0.0.255"},
      {"/ip_gen_dist_list/0/dir", "x", "ip_gen_dist_list 0: dir must be \"c\" or \"s\""},
      {"/ip_gen_dist_list/0/ip_end", "200.0.0.0",
       "ip_gen_dist_list 0: has more than 50000000 addresses"},
      {"/templates", json::array(), "profile: templates is empty"},
      {"/templates/0/tg_id", 1, "template 0: tg_id must be an integer from 0 to 0"},
      {"/tg_names", {""}, "profile: template group name 1 must have 1 to 20 characters"},
      {"/templates/0/client_template/port", 70000,
       "template 0, client_template: port must be an integer from 1 to 65535"},
      {"/templates/0/client_template/port", nullptr,
       "template 0, client_template: port is missing"},
      {"/templates/0/client_template/program_index", 3,
       "template 0, client_template: program_index is 3, but there is no such program"},
      {"/templates/0/client_template/cps", -1,
       "template 0, client_template: cps must be a number from 0 to 1000000000"},
      {"/templates/0/client_template/limit", 1.5,
       "template 0, client_template: limit must be an integer from 0 to 4294967295"},
      {"/templates/0/client_template/ip_gen/dist_client/index", 1,
       "template 0, client_template, ip_gen, dist_client: range 1 is not of client addresses"},
      {"/templates/0/client_template/ip_gen/dist_server/index", 2,
       "template 0, client_template, ip_gen, dist_server: index is 2, but there is no such range "
       "in "
       "ip_gen_dist_list"},
      {"/templates/0/server_template/program_index", 2,
       "template 0: one of its programs is for TCP, the other for UDP"},
      {"/templates/0/server_template/assoc", json::array(),
       "template 0, server_template: assoc must have one element"},
      {"/templates/0/server_template/assoc/0",
       {{"port", 80}, {"ip_start", "9.0.0.0"}, {"ip_end", "8.0.0.0"}},
       "template 0, server_template, assoc: ip_start is greater than ip_end"},
  };
  for (const Case& c : cases) {
    json profile = small_profile();
    profile[json::json_pointer(c.pointer)] = c.value;
    expect_refused(profile, c.message);
  }
}

TEST(Profile, BuffersHaveALimitInAll) {
  json profile = small_profile();
  for (int i = 0; i < 20000; ++i)
    profile["buf_list"].push_back({{"base", "AA=="}, {"size", 1 << 30}});
  try {
    profile_of(profile);
    FAIL();
  } catch (const ProfileError& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("take more than 536870912 bytes"));
  }
}

}  // namespace
}  // namespace engine
