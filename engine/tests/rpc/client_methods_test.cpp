#include <gmock/gmock.h>

#include "rpc/control_client.h"

namespace engine {
namespace {

using ::testing::HasSubstr;

constexpr uint32_t kClient = 0x10000001;

class ClientMethodsTest : public ControlTest {
 protected:
  ClientMethodsTest() { stand_in().clients.known.add(kClient, kClient + 9); }

  static Json these(const std::vector<uint32_t>& clients) {
    Json attr = Json::array();
    for (const uint32_t client : clients) attr.push_back({{"client_ip", client}});
    return {{"is_range", false}, {"attr", attr}};
  }
  static Json those(uint32_t first, uint32_t last) {
    return {{"is_range", true}, {"attr", {{{"client_start_ip", first}, {"client_end_ip", last}}}}};
  }
  static Json enable(bool enabled, Json clients) {
    clients["is_enable"] = enabled;
    return clients;
  }
};

TEST_F(ClientMethodsTest, ClientsAreDisabledOneByOneAndByRange) {
  result("enable_disable_client", enable(false, these({kClient, kClient + 5})));
  result("enable_disable_client", enable(false, those(kClient + 7, kClient + 8)));
  result("enable_disable_client", enable(true, these({kClient + 8})));
  EXPECT_EQ(stand_in().clients.disabled.ranges(),
            (std::map<uint32_t, uint32_t>{
                {kClient, kClient}, {kClient + 5, kClient + 5}, {kClient + 7, kClient + 7}}));
  result("get_clients_info_start", these({kClient, kClient + 1, 7}));
  EXPECT_EQ(result("get_clients_info_pull"),
            (Json{{"268435457", {{"Found", 1}, {"state", "Inactive"}}},
                  {"268435458", {{"Found", 1}, {"state", "Active"}}},
                  {"7", {{"Found", 0}}}}));
  result("get_clients_info_start", those(kClient, kClient + 11));
  EXPECT_EQ(result("get_clients_info_pull").size(), 12u);
}

TEST_F(ClientMethodsTest, InformationIsAskedForFirstAndCollectedOnce) {
  EXPECT_THAT(refusal("get_clients_info_pull"), HasSubstr("get_clients_info_start has to be"));
  result("get_clients_info_start", these({}));
  EXPECT_THAT(refusal("get_clients_info_start", these({})), HasSubstr("has already started"));
  result("get_clients_info_pull");
  EXPECT_THAT(refusal("get_clients_info_pull"), HasSubstr("get_clients_info_start has to be"));
}

TEST_F(ClientMethodsTest, WhatIsNoClientIsRefused) {
  EXPECT_THAT(refusal("enable_disable_client", enable(false, those(9, 8))),
              HasSubstr("'client_end_ip' must be an integer from 9"));
  EXPECT_THAT(refusal("enable_disable_client",
                      {{"is_enable", true}, {"is_range", true}, {"attr", {{{"client_ip", 1}}}}}),
              HasSubstr("'client_start_ip' (an integer) is missing"));
  EXPECT_THAT(refusal("enable_disable_client", {{"is_enable", true},
                                                {"is_range", false},
                                                {"attr", {{{"client_ip", 1ull << 32}}, 7}}}),
              HasSubstr("from 0 to 4294967295"));
  EXPECT_THAT(refusal("get_clients_info_start", those(0, 100'000)),
              HasSubstr("100001 clients are asked for; ask for at most 100000"));
  EXPECT_THAT(refusal("get_clients_info_pull"), HasSubstr("get_clients_info_start has to be"));
}

}  // namespace
}  // namespace engine
