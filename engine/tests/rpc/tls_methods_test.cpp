#include <gmock/gmock.h>

#include "rpc/control_client.h"

namespace engine {
namespace {

using ::testing::HasSubstr;

class TlsMethodsTest : public ControlTest {
 protected:
  TlsMethodsTest() { acquire(); }

  Json set(Json params = Json::object()) {
    params["profile_id"] = "_";
    return call("stackcost_set_tls", params);
  }
  Json templates() { return result("stackcost_get_tls", {{"profile_id", "_"}})["templates"]; }
};

TEST_F(TlsMethodsTest, IsOfTheRunsThatStartAfterIt) {
  load();
  ASSERT_TRUE(set({{"port", 80},
                   {"version", "1.3"},
                   {"group", "X25519"},
                   {"cipher", "TLS_AES_128_GCM_SHA256"},
                   {"resumption", true},
                   {"sni", "example.test"},
                   {"alpn", "http/1.1"}})
                  .contains("result"));
  EXPECT_TRUE(templates().empty());
  start();
  const auto& asked = stand_in().runs.at(1).options.tls;
  ASSERT_EQ(asked.size(), 1u);
  ASSERT_NE(asked[0], nullptr);
  EXPECT_EQ(asked[0]->version, tls::Version::tls13);
  EXPECT_EQ(asked[0]->groups, "X25519");
  EXPECT_EQ(asked[0]->ciphers, "TLS_AES_128_GCM_SHA256");
  EXPECT_TRUE(asked[0]->resumption);
  EXPECT_EQ(asked[0]->server_name, "example.test");
  EXPECT_EQ(asked[0]->alpn, "http/1.1");
  EXPECT_NE(asked[0]->identity, nullptr);
  EXPECT_THAT(set().dump(), HasSubstr("Invalid state"));
  pass(1);
  const Json found = templates();
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0]["template"], 0);
  EXPECT_GT(found[0]["client"]["handshakes_full"], 0);
  EXPECT_EQ(found[0]["client"]["alerts_sent"], (Json{{"handshake failure", 2}}));
  EXPECT_EQ(found[0]["server"]["handshakes_full"], 0);
  result("stop", {{"profile_id", "_"}});
  pass(3);
  EXPECT_FALSE(stand_in().runs.contains(1));
  EXPECT_GE(templates()[0]["client"]["handshakes_full"], found[0]["client"]["handshakes_full"]);
}

TEST_F(TlsMethodsTest, KeysAreKeptOnRequestAndTakenOnce) {
  const auto keys = [this] {
    return result("stackcost_take_tls_keys", {{"profile_id", "_"}})["lines"].get<std::string>();
  };
  load();
  set({{"key_log", true}});
  start();
  EXPECT_TRUE(stand_in().runs.at(1).options.tls.at(0)->key_log);
  stand_in().tls_keys = "CLIENT_RANDOM 01 02\n";
  EXPECT_EQ(keys(), "CLIENT_RANDOM 01 02\n");
  EXPECT_EQ(keys(), "");
  std::string line(99'999, 'f');
  line.push_back('\n');
  for (int i = 0; i < 25; ++i) stand_in().tls_keys += line;
  result("stop", {{"profile_id", "_"}});
  pass(3);
  EXPECT_FALSE(stand_in().runs.contains(1));
  // A mebibyte at a time, in whole lines; also after the run.
  for (const size_t lines : {10, 10, 5, 0}) EXPECT_EQ(keys().size(), lines * line.size());
}

TEST_F(TlsMethodsTest, WithoutRulesNoTemplateHasIt) {
  load();
  start();
  EXPECT_TRUE(stand_in().runs.at(1).options.tls.empty());
  EXPECT_TRUE(templates().empty());
}

TEST_F(TlsMethodsTest, ARuleThatChoosesNothingIsToldAtTheStart) {
  load();
  for (const Json& rule : {Json{{"port", 443}}, Json{{"template", 7}}, Json{{"name", "none"}}}) {
    load();
    ASSERT_TRUE(set(rule).contains("result"));
    call("start", {{"profile_id", "_"}, {"mult", 1.0}, {"nc", false}, {"duration", 10}});
    pass(1);
    EXPECT_TRUE(stand_in().runs.empty()) << rule;
  }
}

TEST_F(TlsMethodsTest, WhatIsNotThereIsRefused) {
  load();
  EXPECT_THAT(set({{"version", "1.1"}}).dump(), HasSubstr("'version' must be '1.2' or '1.3'"));
  EXPECT_THAT(set({{"certificate", "DSA"}}).dump(), HasSubstr("'P-256' or 'RSA-2048'"));
  EXPECT_THAT(set({{"sni", std::string(300, 'a')}}).dump(), HasSubstr("at most 253 bytes"));
  EXPECT_THAT(set({{"sni", "a,dirName:b"}}).dump(), HasSubstr("no DNS name"));
  EXPECT_THAT(set({{"port", 70'000}}).dump(), HasSubstr("port"));
}

}  // namespace
}  // namespace engine
